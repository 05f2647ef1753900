/**
 * Threat: guest code over which V8 ends the whole process by itself, or runs out of memory where it cannot give up. The
 * driver must tell whose end it was, and have the next process ready. If one of these fails, look at
 * `sandbox/driver/ending.ts`.
 */
import t from 'tap';
import { Siege } from '../../support/attacks/siege.ts';
import { UNINTERRUPTIBLE_ATTACKS } from '../../support/attacks/uninterruptible.ts';

const siege = await Siege.open(
  t,
  UNINTERRUPTIBLE_ATTACKS.filter(({ threat }) => threat === 18 || threat === 20),
);

t.test('threat 18: ropes of 2^28 characters', async (t) => {
  // Threat: V8 ends the process by a trap when it makes them flat, whatever the memory limit says.
  await siege.assertContained(t, 18);
});

t.test('threat 20: memory taken inside one built-in', async (t) => {
  // Threat: V8 is out of memory where it cannot give up, and parks or aborts.
  await siege.assertContained(t, 20);
});

t.test('nothing of it goes on', (t) => siege.assertOver(t));
