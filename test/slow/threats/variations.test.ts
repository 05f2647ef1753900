/**
 * Threat: guest code that takes the processor by ways that no list names: timers, iterators, digests, addresses,
 * locales, replacements. The list of threats is a sample; these stand for what else will be tried.
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
  // Threat: some of it the engine can stop, some of it only the end of the process.
  await siege.assertContained(t, null);
});

t.test('nothing of it goes on', (t) => siege.assertOver(t));
