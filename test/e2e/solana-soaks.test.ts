/**
 * The soaks of `npm run soak` on Solana, small: what could execute twice there, or be called failed although it landed,
 * is bytes that are signed anew while the first are good. The SVM is the judge.
 */
import t from 'tap';
import { soakFaults } from '../../soak/payments/faults.ts';
import { soakKills } from '../../soak/payments/kill.ts';
import { solanaChain } from '../../soak/payments/solana/chain.ts';
import { assertKept, smallSoak } from '../support/small-soak.ts';

const transactions = 20;
const small = { ...smallSoak(t, transactions), chain: solanaChain };

t.test('endpoints in trouble, behind the others, and lying', async (t) => {
  const modes = ['lag', 'lies'] as const;
  const result = await soakFaults({ ...small, modes, endpoints: [3], rate: 0.02, pauseMs: 500 });
  assertKept(t, result, transactions);
});

t.test('a server that is killed at a step and at random', async (t) => {
  const result = await soakKills({ ...small, kills: 3, everyStep: false });
  assertKept(t, result, transactions);
  t.match(Object.fromEntries(result.lines), { kills: 3, 'at a step': /found 1/ });
});
