/**
 * Threat: guest code that returns and goes on, or that changes its world for whoever comes next. After the end of its
 * call nothing of it may be heard of, and the next call must find the world as it was. If one of these fails, look at
 * `sandbox/process/call.ts`, `isolate-shelf.ts` and `sandbox/guest/intrinsics/freeze.ts`.
 */
import t from 'tap';
import { LEFTOVER_ATTACKS } from '../../support/attacks/leftovers.ts';
import { Siege } from '../../support/attacks/siege.ts';

const siege = await Siege.open(t, LEFTOVER_ATTACKS);

t.test('threat 7: work after the return', async (t) => {
  // Threat: a call that has been answered still calls capabilities and logs.
  await siege.assertContained(t, 7);
});

t.test('threat 8: continuations that burn the processor', async (t) => {
  // Threat: the isolate is busy when the next call wants it, with nobody to blame.
  await siege.assertContained(t, 8);
});

t.test('threat 9: finalizers', async (t) => {
  // Threat: code that runs when the collector likes; what it needs must not exist.
  await siege.assertContained(t, 9);
});

t.test('threat 48: memory kept for the next call', async (t) => {
  // Threat: an isolate serves again; what one call hoards is missing for the next.
  await siege.assertContained(t, 48);
});

t.test('threat 49: globals and prototypes poisoned for the next call', async (t) => {
  // Threat: an isolate serves again; what one call replaced would run in the next one's name.
  await siege.assertContained(t, 49);
});

t.test('nothing of it goes on', (t) => siege.assertOver(t));
