/**
 * Threat: guest code occupies the processor in ways that are not on the list: timers, iterators, digests, addresses,
 * locales, replacements. The list is a sample, and these stand for what else attackers may try.
 */
import t from 'tap';
import { AttackRun } from '../../support/attacks/attack-run.ts';
import { PROCESSOR_ATTACKS } from '../../support/attacks/processor.ts';
import { UNINTERRUPTIBLE_ATTACKS } from '../../support/attacks/uninterruptible.ts';

const attackRun = await AttackRun.open(
  t,
  [...PROCESSOR_ATTACKS, ...UNINTERRUPTIBLE_ATTACKS].filter(({ threat }) => threat === null),
);

t.test('variations: whatever else the guest’s world has takes its own plugin’s time only', async (t) => {
  // Threat: V8 can stop some of these. Others only stop when the process ends.
  await attackRun.assertContained(t, null);
});

t.test('nothing of it goes on', (t) => attackRun.assertOver(t));
