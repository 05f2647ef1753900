/**
 * Threat: guest code on which V8 ends the whole process, or runs out of memory where it cannot stop cleanly. The driver
 * must name the call that caused it, and have the next process ready. If one of these fails, look at
 * `sandbox/host/child/running-call.ts`.
 */
import t from 'tap';
import { AttackRun } from '../../support/attacks/attack-run.ts';
import { UNINTERRUPTIBLE_ATTACKS } from '../../support/attacks/uninterruptible.ts';

const attackRun = await AttackRun.open(
  t,
  UNINTERRUPTIBLE_ATTACKS.filter(({ threat }) => threat === 18 || threat === 20),
);

t.test('threat 18: ropes of 2^28 characters', async (t) => {
  // Threat: V8 ends the process with a trap when it flattens the rope, whatever the memory limit is.
  await attackRun.assertContained(t, 18);
});

t.test('threat 20: memory taken inside one built-in', async (t) => {
  // Threat: V8 runs out of memory where it cannot stop cleanly, and hangs or aborts.
  await attackRun.assertContained(t, 20);
});

t.test('nothing of it goes on', (t) => attackRun.assertOver(t));
