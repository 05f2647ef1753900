import t from 'tap';
import { printable } from '../../../../src/domain/printable.ts';

t.test('a foreign text becomes one line of bounded length', async (t) => {
  t.equal(printable('a\u0000\u001b[31mb\r\n\u202ec', 50), 'a [31mb c');
  t.equal(printable('é'.repeat(9), 4), 'éééé...(truncated)');
});
