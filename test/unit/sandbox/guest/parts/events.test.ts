import t from 'tap';
import { part } from '../../../../../sandbox/guest/parts/events.ts';
import { partWorld } from '../../../../support/guest-web.ts';

t.test('the part makes what it stands for', (t) => {
  t.type(part(partWorld())['EventEmitter'], 'function');
  t.end();
});
