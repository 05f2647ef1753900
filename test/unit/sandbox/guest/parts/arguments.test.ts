import t from 'tap';
import { part } from '../../../../../sandbox/guest/parts/arguments.ts';

t.test('the part makes what it stands for', (t) => {
  t.type(part()['parseArgs'], 'function');
  t.end();
});
