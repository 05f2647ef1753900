/**
 * Threat: guest code attacks with its log lines. They must become text inside the guest, under the guest's own limits,
 * and be shortened there. The host must not touch a guest's object. If one of these fails, look at
 * `sandbox/guest/log-line.ts`.
 */
import t from 'tap';
import { AttackRun } from '../../support/attacks/attack-run.ts';
import { LOG_ATTACKS } from '../../support/attacks/logs.ts';

const attackRun = await AttackRun.open(t, LOG_ATTACKS);

t.test('threat 6: floods of log lines', async (t) => {
  // Threat: lines arrive faster than they are read, and fill the reader's memory.
  await attackRun.assertContained(t, 6);
});

t.test('threat 62: log lines that forge, flood or lead astray', async (t) => {
  // Threat: log lines reach a terminal, a log file or another program's parser.
  await attackRun.assertContained(t, 62);
});

t.test('nothing of it goes on', (t) => attackRun.assertOver(t));
