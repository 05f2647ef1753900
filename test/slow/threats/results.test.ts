/**
 * Threat: guest code attacks with its result. It must become text inside the guest, under the guest's own limits, and
 * be shortened there. The host must not touch a guest's object. If one of these fails, look at
 * `sandbox/guest/json-text.ts`.
 */
import t from 'tap';
import { AttackRun } from '../../support/attacks/attack-run.ts';
import { RESULT_ATTACKS } from '../../support/attacks/results.ts';

const attackRun = await AttackRun.open(t, RESULT_ATTACKS);

t.test('threat 2: results that are thenables of thenables', async (t) => {
  // Threat: awaiting a result runs the guest's code, which never ends.
  await attackRun.assertContained(t, 2);
});

t.test('threat 22: results beyond every limit', async (t) => {
  // Threat: a result is copied and written several times on its way, and grows each time.
  await attackRun.assertContained(t, 22);
});

t.test('threat 23: deep and cyclic results', async (t) => {
  // Threat: code that writes a deep or cyclic value on the host runs out of stack, or never ends.
  await attackRun.assertContained(t, 23);
});

t.test('threat 26: results that are Proxies whose traps loop', async (t) => {
  // Threat: even a check of the thrown or returned value's type runs the guest's code.
  await attackRun.assertContained(t, 26);
});

t.test('threat 35: results that change while they are read', async (t) => {
  // Threat: toJSON, getters and traps run between a check and the use.
  await attackRun.assertContained(t, 35);
});

t.test('nothing of it goes on', (t) => attackRun.assertOver(t));
