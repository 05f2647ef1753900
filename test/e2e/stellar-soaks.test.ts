/**
 * The soaks of `npm run soak` on Stellar, small, and that of the channels plugin: what could execute twice there is what is
 * signed anew under another sequence, by a server that knows nothing of the one that was killed. The ledger is the judge.
 */
import t from 'tap';
import { soakChannels } from '../../soak/channels/channels.ts';
import { soakKills } from '../../soak/payments/kill.ts';
import { stellarChain } from '../../soak/payments/stellar/chain.ts';
import { assertKept, smallSoak } from '../support/small-soak.ts';

const transactions = 12;
/** What is to be signed anew waits for the end of its time first; a machine that is busy takes longer. */
const patienceMs = 120_000;
const small = { ...smallSoak(t, transactions), patienceMs, chain: stellarChain };

t.test('a server that is killed at a step and at random', async (t) => {
  const result = await soakKills({ ...small, kills: 2, everyStep: false });
  assertKept(t, result, transactions);
  t.match(Object.fromEntries(result.lines), { kills: 2 });
});

t.test('a server that is killed under callers of the channels plugin', async (t) => {
  const { faults } = await soakChannels({
    ...{ transactions: 20, channels: 4, kills: 1, database: 'sqlite', seed: 4 },
    say: (text) => t.comment(text),
  });
  t.same(faults, []);
});
