/**
 * The smallest run of `npm run soak -- channels`: parallel callers of the published channels plugin, and a server that
 * is killed meanwhile. The chain is the judge.
 */
import t from 'tap';
import { soakChannels } from '../load/soak/channels/channels.ts';
import { describeLines } from '../load/soak/report.ts';

t.test('callers of the channels plugin, and a server that is killed', async (t) => {
  const { lines, faults } = await soakChannels({
    transactions: 6,
    channels: 2,
    kills: 1,
    database: 'sqlite',
    seed: 4,
    say: (text) => t.comment(text),
  });
  t.same(faults, [], describeLines(lines));
  t.match(Object.fromEntries(lines), { kills: 1, landed: /^6, of which 0 failed$/ });
});
