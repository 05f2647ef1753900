/**
 * Threat: what guest code hands out is the weapon: its result, its log lines, its errors. All of it must be made into
 * text inside the guest, under the guest's own limits, and cut there; nothing on this side may look at a guest's
 * object. If one of these fails, look at `sandbox/guest/json-text.ts`, `log-line.ts` and `failure.ts`.
 */
import t from 'tap';
import { ERROR_ATTACKS } from '../../support/attacks/errors.ts';
import { LOG_ATTACKS } from '../../support/attacks/logs.ts';
import { RESULT_ATTACKS } from '../../support/attacks/results.ts';
import { Siege } from '../../support/attacks/siege.ts';

const siege = await Siege.open(t, [...RESULT_ATTACKS, ...LOG_ATTACKS, ...ERROR_ATTACKS]);

t.test('threat 2: results that are thenables of thenables', async (t) => {
  // Threat: awaiting a result runs the guest's code, and that never ends.
  await siege.assertContained(t, 2);
});

t.test('threat 6: floods of log lines', async (t) => {
  // Threat: lines are queued faster than they are read, in the memory of whoever reads them.
  await siege.assertContained(t, 6);
});

t.test('threat 22: results beyond every limit', async (t) => {
  // Threat: a result is copied and written several times on its way, each time larger.
  await siege.assertContained(t, 22);
});

t.test('threat 23: deep and cyclic results', async (t) => {
  // Threat: whoever writes such a value on the other side runs out of stack or never ends.
  await siege.assertContained(t, 23);
});

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

t.test('threat 35: results that change while they are read', async (t) => {
  // Threat: toJSON, getters and traps run between a check and the use.
  await siege.assertContained(t, 35);
});

t.test('threat 62: log lines that forge, flood or lead astray', async (t) => {
  // Threat: what is logged ends in a terminal, a log file or another program's parser.
  await siege.assertContained(t, 62);
});

t.test('variations: messages, causes, details, statuses', async (t) => {
  // Threat: the same by the other properties of an error.
  await siege.assertContained(t, null);
});

t.test('nothing of it goes on', (t) => siege.assertOver(t));
