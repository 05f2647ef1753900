import t from 'tap';
import { part } from '../../../../../sandbox/guest/parts/inspect.ts';

t.test('the part makes what it stands for', (t) => {
  t.type(part()['inspect'], 'function');
  t.end();
});
