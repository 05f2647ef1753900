/**
 * The smallest run of `npm run soak -- triggers`: triggers that fire each second and at events of transactions, on three
 * servers that are killed and frozen, and a database that crashes.
 */
import t from 'tap';
import { describeLines } from '../load/soak/report.ts';
import { soakTriggers } from '../load/soak/triggers/triggers.ts';

t.setTimeout(240_000);

t.test('one call for each moment and each event', async (t) => {
  const { lines, faults } = await soakTriggers({
    triggers: 10,
    seconds: 25,
    events: 300,
    seed: 4,
    patienceMs: 120_000,
    say: (text) => t.comment(text),
  });
  t.same(faults, [], describeLines(lines));
  t.comment(describeLines(lines));
});
