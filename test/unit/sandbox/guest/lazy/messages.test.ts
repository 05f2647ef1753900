import t from 'tap';
import { create } from '../../../../../sandbox/guest/lazy/messages.ts';
import { LAZY_GLOBALS } from '../../../../../sandbox/guest/lazy-modules.ts';
import { runtimeServices } from '../../../../support/guest-web.ts';

t.test('the part makes the names it stands for', (t) => {
  const made = create(runtimeServices());
  for (const name of LAZY_GLOBALS.messages) t.ok(name in made, name);
  t.end();
});
