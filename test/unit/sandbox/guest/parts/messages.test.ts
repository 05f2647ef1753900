import t from 'tap';
import { PART_GLOBALS } from '../../../../../sandbox/guest/globals/lazy-parts.ts';
import { part } from '../../../../../sandbox/guest/parts/messages.ts';
import { partWorld } from '../../../../support/guest-web.ts';

t.test('the part makes the names it stands for', (t) => {
  const made = part(partWorld());
  for (const name of PART_GLOBALS.messages) t.ok(name in made, name);
  t.end();
});
