import t from 'tap';
import { PART_GLOBALS } from '../../../../../sandbox/guest/globals/lazy-parts.ts';
import { part } from '../../../../../sandbox/guest/parts/compression.ts';
import { partWorld } from '../../../../support/guest-web.ts';

t.test('the part makes the names it stands for', (t) => {
  t.strictSame(Object.keys(part(partWorld())), [...PART_GLOBALS.compression]);
  t.end();
});
