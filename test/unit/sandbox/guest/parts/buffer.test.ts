import t from 'tap';
import { part } from '../../../../../sandbox/guest/parts/buffer.ts';

t.test('the part makes Buffer', (t) => {
  const { Buffer: Ours } = part() as { Buffer: typeof Buffer };
  t.equal(Ours.from('é').toString('hex'), 'c3a9');
  t.not(Ours, Buffer);
  t.end();
});
