import t from 'tap';
import { part } from '../../../../../sandbox/guest/parts/stream.ts';

t.test('the part makes what it stands for', (t) => {
  t.type(part()['Stream'], 'function');
  t.end();
});
