/**
 * Threat: what guest code hands out is the weapon, here its errors. It must be made into text inside the guest, under the
 * guest's own limits, and cut there; nothing on this side may look at a guest's object. If one of these fails, look at
 * `sandbox/guest/failure.ts`.
 */
import t from 'tap';
import { ERROR_ATTACKS } from '../../support/attacks/errors.ts';
import { Siege } from '../../support/attacks/siege.ts';

const siege = await Siege.open(t, ERROR_ATTACKS);

t.test('threat 25: errors whose properties loop', async (t) => {
  // Threat: whoever reads the message, the stack or the name of a guest's error runs the guest's code.
  await siege.assertContained(t, 25);
});

t.test('threat 26: Proxies whose traps loop', async (t) => {
  // Threat: even asking what kind of thing was thrown or returned runs the guest's code.
  await siege.assertContained(t, 26);
});

t.test('threat 28: rejections that nobody handles', async (t) => {
  // Threat: the engine reports them with whatever comes next: another call, or the host's own question.
  await siege.assertContained(t, 28);
});

t.test('variations: messages, causes, details, statuses', async (t) => {
  // Threat: the same by the other properties of an error.
  await siege.assertContained(t, null);
});

t.test('nothing of it goes on', (t) => siege.assertOver(t));
