import t from 'tap';
import { integer128, integer256, integerIn } from '../../../../../../src/chains/stellar/message/contract-integer.ts';

t.test('digits are kept, whatever holds them', (t) => {
  t.equal(integerIn('9007199254740993', 0n, 2n ** 64n), 9_007_199_254_740_993n);
  t.equal(integerIn(-3, -3n, 3n), -3n);
  for (const none of [2 ** 53, 1.5, '1e3', ' 1', '0x1', '', '9'.repeat(81), null, true, 4, -4]) {
    t.throws(() => integerIn(none, -3n, 3n), { name: 'ValueFault' }, String(none));
  }
  t.end();
});

t.test('parts have the sign in the first', (t) => {
  t.same(integer128({ hi: -1, lo: '18446744073709551615' }, true), { hi: -1n, lo: 2n ** 64n - 1n });
  t.same(integer128('-1', true), { hi: -1n, lo: 2n ** 64n - 1n });
  t.same(integer256(5, false), { hiHi: 0n, hiLo: 0n, loHi: 0n, loLo: 5n });
  t.same(integer256({ hi_hi: 1, hi_lo: 2, lo_hi: 3, lo_lo: 4 }, false), { hiHi: 1n, hiLo: 2n, loHi: 3n, loLo: 4n });
  t.throws(() => integer128({ hi: -1, lo: 0 }, false), { name: 'ValueFault', path: ['hi'] });
  t.throws(() => integer128({ hi: 0, lo: -1 }, true), { name: 'ValueFault', path: ['lo'] });
  t.throws(() => integer128({ hi: 0, lo: 0, more: 0 }, true), { message: 'expected {hi, lo}' });
  t.throws(() => integer256({ hi: 0, lo: 0 }, true), { message: 'expected {hi_hi, hi_lo, lo_hi, lo_lo}' });
  t.end();
});
