import t from 'tap';
import { amountText } from '../../../../src/client/amount-text.ts';

t.test('amounts are told in the units that people use', (t) => {
  t.equal(amountText(1_500_000_000_000_000_000n, 'wei'), '1.5 of the native coin');
  t.equal(amountText('1234567890', 'lamport'), '1.234567 SOL');
  t.equal(amountText(0, 'stroop'), '0 XLM');
  t.equal(amountText(100, 'stroop'), '0.00001 XLM');
  t.equal(amountText(7, 'bean'), '7 bean');
  t.end();
});
