import t from 'tap';
import { PART_GLOBALS } from '../../../../../sandbox/guest/globals/lazy-parts.ts';
import { part } from '../../../../../sandbox/guest/parts/streams.ts';
import { partWorld } from '../../../../support/guest-web.ts';

t.test('the part makes the names it stands for', (t) => {
  const made: Record<string, unknown> = part(partWorld());
  for (const name of PART_GLOBALS.streams) t.equal((made[name] as { name?: string } | undefined)?.name, name);
  t.end();
});
