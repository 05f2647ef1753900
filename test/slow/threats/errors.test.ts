/**
 * Threat: guest code attacks with its errors. They must become text inside the guest, under the guest's own limits, and
 * be shortened there. The host must not touch a guest's object. If one of these fails, look at
 * `sandbox/guest/failure.ts`.
 */
import t from 'tap';
import { AttackRun } from '../../support/attacks/attack-run.ts';
import { ERROR_ATTACKS } from '../../support/attacks/errors.ts';

const attackRun = await AttackRun.open(t, ERROR_ATTACKS);

t.test('threat 25: errors whose properties loop', async (t) => {
  // Threat: reading the message, stack or name of a guest's error runs the guest's code.
  await attackRun.assertContained(t, 25);
});

t.test('threat 26: Proxies whose traps loop', async (t) => {
  // Threat: even a check of the thrown or returned value's type runs the guest's code.
  await attackRun.assertContained(t, 26);
});

t.test('threat 28: rejections that nobody handles', async (t) => {
  // Threat: the engine reports the rejection during whatever runs next: another call, or the host's own request.
  await attackRun.assertContained(t, 28);
});

t.test('variations: messages, causes, details, statuses', async (t) => {
  // Threat: the same attacks with other properties of an error.
  await attackRun.assertContained(t, null);
});

t.test('nothing of it goes on', (t) => attackRun.assertOver(t));
