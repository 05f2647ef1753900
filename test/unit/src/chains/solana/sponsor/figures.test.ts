import t from 'tap';
import { rateText, unitsText } from '../../../../../../src/chains/solana/sponsor/figures.ts';

t.test('amounts in whole units have the decimals that they need', async (t) => {
  t.equal(unitsText(1_000_000n, 6), '1');
  t.equal(unitsText(1_500_000n, 6), '1.5');
  t.equal(unitsText(5n, 9), '0.000000005');
  t.equal(unitsText(0n, 9), '0');
  t.equal(unitsText(7n, 0), '7');
  t.equal(unitsText(2n ** 64n - 1n, 9), '18446744073.709551615');
});

t.test('rates never have an exponent', async (t) => {
  t.equal(rateText(200n, 6, 1_000n), '200');
  t.equal(rateText(1n, 9, 1n), '1');
  t.equal(rateText(1n, 9, 3n), '0.3333333333333333');
  t.equal(rateText(5n, 9, 10_000_000n), '0.0000005');
  t.equal(rateText(125n, 9, 100_000_000_000n), '0.00000000125');
  t.equal(rateText(10n ** 24n, 0, 1_000_000_000n), '1000000000000000000000000');
  t.equal(rateText(15n * 10n ** 22n, 0, 1_000_000_000n), '150000000000000000000000');
});
