/**
 * Threat: guest code in a single built-in function that never checks whether it should stop. V8 cannot stop it. The
 * driver must notice, kill the process, and have the next one ready. If one of these fails, look at the watch in
 * `sandbox/host/child/child-supervisor.ts`.
 */
import t from 'tap';
import { AttackRun } from '../../support/attacks/attack-run.ts';
import { UNINTERRUPTIBLE_ATTACKS } from '../../support/attacks/uninterruptible.ts';

const attackRun = await AttackRun.open(
  t,
  UNINTERRUPTIBLE_ATTACKS.filter(({ threat }) => threat === 12),
);

t.test('threat 12: built-ins that nothing interrupts', async (t) => {
  // Threat: BigInts, sorting and array-likes. Neither a timeout nor the end of a thread stops them.
  await attackRun.assertContained(t, 12);
});

t.test('nothing of it goes on', (t) => attackRun.assertOver(t));
