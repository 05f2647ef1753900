import t from 'tap';
import { BEYOND_ANY_PAUSE_MS, isDueAt } from '../../../../../src/domain/transaction/due.ts';
import { defaultTiming } from '../../../../../src/engine/timing.ts';

t.test('an action is due from its moment on, and when the clock was set back from it', async (t) => {
  const now = 1_700_000_000_000;
  t.equal(isDueAt(null, now), false);
  t.equal(isDueAt(now - 1, now), true);
  t.equal(isDueAt(now, now), true);
  t.equal(isDueAt(now + 1, now), false);
  t.equal(isDueAt(now + BEYOND_ANY_PAUSE_MS, now), false);
  t.equal(isDueAt(now + 3_600_000, now), true);
});

t.test('no pause of the engine is taken for a clock that was set back', async (t) => {
  const { lookCapMs, retryCapMs, furtherMs, reofferMs, asideMs } = defaultTiming;
  t.ok(2 * Math.max(lookCapMs, retryCapMs, furtherMs, reofferMs, asideMs) < BEYOND_ANY_PAUSE_MS);
});
