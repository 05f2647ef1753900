import t from 'tap';
import {
  parseHorizonAmount,
  tokensPerStroopText,
  unitsText,
  withMargin,
  withoutTolerance,
} from '../../../../../../src/chains/stellar/sponsor/figures.ts';

t.test('amounts in whole units', (t) => {
  t.equal(unitsText(0n), '0');
  t.equal(unitsText(150n), '0.000015');
  t.equal(unitsText(10_000_000n), '1');
  t.equal(unitsText(9_223_372_036_854_775_807n), '922337203685.4775807');
  t.equal(tokensPerStroopText(150n, 300n), '0.5');
  t.equal(tokensPerStroopText(300n, 300n), '1');
  t.equal(tokensPerStroopText(1n, 3_000_000n), '0.000000333333333333', 'without an exponent');
  t.end();
});

t.test('margins and tolerances are rounded in favour of who asks', (t) => {
  t.equal(withMargin(300n, 0), 300n);
  t.equal(withMargin(300n, 50), 450n);
  t.equal(withMargin(1n, 0.1), 2n);
  t.equal(withoutTolerance(150n, 1), 149n);
  t.equal(withoutTolerance(150n, 0), 150n);
  t.equal(withoutTolerance(150n, 100), 0n);
  t.end();
});

t.test('amounts as Horizon writes them, and no others', (t) => {
  t.equal(parseHorizonAmount('1.5'), 15_000_000n);
  t.equal(parseHorizonAmount('922337203685.4775807'), 9_223_372_036_854_775_807n);
  for (const bad of ['', '1.', '.5', '-1', '1e5', '1.12345678', 5, null, undefined]) {
    t.throws(() => parseHorizonAmount(bad), TypeError, String(bad));
  }
  t.end();
});
