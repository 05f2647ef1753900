import t from 'tap';
import { part } from '../../../../../sandbox/guest/parts/events.ts';

t.test('the part makes what it stands for', (t) => {
  t.type(part()['EventEmitter'], 'function');
  t.end();
});
