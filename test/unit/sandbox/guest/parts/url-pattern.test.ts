import t from 'tap';
import { PART_GLOBALS } from '../../../../../sandbox/guest/globals/lazy-parts.ts';
import { part } from '../../../../../sandbox/guest/parts/url-pattern.ts';

t.test('the part makes the names it stands for', (t) => {
  t.strictSame(Object.keys(part()), [...PART_GLOBALS['url-pattern']]);
  t.end();
});
