import t from 'tap';
import { backOff, defaultTiming, nextLookAt } from '../../../../src/engine/timing.ts';

const timing = { ...defaultTiming, retryMs: 500, retryCapMs: 15_000, lookMs: 100, lookCapMs: 4_000 };

t.test('pauses after failures double up to the cap, however many there were', async (t) => {
  const pauses = [1, 2, 3, 10, 5_000].map((failures) => backOff(failures, timing, () => 0));
  t.strictSame(pauses, [500, 1_000, 2_000, 15_000, 15_000]);
});

t.test('jitter takes off up to a quarter', async (t) => {
  t.equal(
    backOff(1, timing, () => 1),
    375,
  );
});

t.test('the older a transaction, the rarer the looks, at moments that others share', async (t) => {
  const ages = [0, 1_000, 8_000, 3_600_000].map((age) => nextLookAt(10_000_000, 10_000_000 - age, timing) - 10_000_000);
  t.strictSame(ages, [100, 300, 2_000, 4_000]);
  t.equal(nextLookAt(10_000_050, 10_000_050, timing), nextLookAt(10_000_099, 10_000_099, timing));
});

t.test('a clock that went back does not hurry the next look', async (t) => {
  t.equal(nextLookAt(1_000, 5_000, timing), 1_100);
});
