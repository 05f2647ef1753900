/**
 * Threat: guest code occupies the processor in ways that are not on the list: timers, iterators, digests, addresses,
 * locales, replacements. The list is a sample, and these stand for what else attackers may try.
 */
import t from 'tap';
import { PROCESSOR_ATTACKS } from '../../support/attacks/processor.ts';
import { Siege } from '../../support/attacks/siege.ts';
import { UNINTERRUPTIBLE_ATTACKS } from '../../support/attacks/uninterruptible.ts';

const siege = await Siege.open(
  t,
  [...PROCESSOR_ATTACKS, ...UNINTERRUPTIBLE_ATTACKS].filter(({ threat }) => threat === null),
);

t.test('variations: whatever else the guest’s world has takes its own plugin’s time only', async (t) => {
  // Threat: V8 can stop some of these. Others only stop when the process ends.
  await siege.assertContained(t, null);
});

t.test('nothing of it goes on', (t) => siege.assertOver(t));
