/**
 * Threat: what guest code hands out is the weapon, here its log lines. It must be made into text inside the guest, under the
 * guest's own limits, and cut there; nothing on this side may look at a guest's object. If one of these fails, look at
 * `sandbox/guest/text/log-line.ts`.
 */
import t from 'tap';
import { LOG_ATTACKS } from '../../support/attacks/logs.ts';
import { Siege } from '../../support/attacks/siege.ts';

const siege = await Siege.open(t, LOG_ATTACKS);

t.test('threat 6: floods of log lines', async (t) => {
  // Threat: lines are queued faster than they are read, in the memory of whoever reads them.
  await siege.assertContained(t, 6);
});

t.test('threat 62: log lines that forge, flood or lead astray', async (t) => {
  // Threat: what is logged ends in a terminal, a log file or another program's parser.
  await siege.assertContained(t, 62);
});

t.test('nothing of it goes on', (t) => siege.assertOver(t));
