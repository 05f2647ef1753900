/**
 * Threat: guest code continues after its return, or changes its world for the next call. After the end of its call, it
 * must have no effect, and the next call must find an unchanged world. If one of these fails, look at
 * `sandbox/process/call.ts`, `isolate-pool.ts` and `sandbox/guest/intrinsics/freeze.ts`.
 */
import t from 'tap';
import { AttackRun } from '../../support/attacks/attack-run.ts';
import { LEFTOVER_ATTACKS } from '../../support/attacks/leftovers.ts';

const attackRun = await AttackRun.open(t, LEFTOVER_ATTACKS);

t.test('threat 7: work after the return', async (t) => {
  // Threat: after its answer, a call still uses capabilities and logs.
  await attackRun.assertContained(t, 7);
});

t.test('threat 8: continuations that burn the processor', async (t) => {
  // Threat: the isolate is busy when the next call needs it, and no call can be blamed.
  await attackRun.assertContained(t, 8);
});

t.test('threat 9: finalizers', async (t) => {
  // Threat: finalizers run at any time. The classes that they need must not exist.
  await attackRun.assertContained(t, 9);
});

t.test('threat 48: memory kept for the next call', async (t) => {
  // Threat: the isolate is reused, and memory that one call keeps is missing for the next.
  await attackRun.assertContained(t, 48);
});

t.test('threat 49: globals and prototypes poisoned for the next call', async (t) => {
  // Threat: the isolate is reused, and functions that one call replaced run in the next call's name.
  await attackRun.assertContained(t, 49);
});

t.test('nothing of it goes on', (t) => attackRun.assertOver(t));
