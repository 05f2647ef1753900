/**
 * The soaks of `npm run soak`, small: a real server behind endpoints that do wrong, and one that is killed, with the
 * chain itself as the judge. What could break the promises: a lost answer taken for a refusal, a lie believed, bytes
 * signed anew after a crash.
 */
import t from 'tap';
import { evmChain } from '../../soak/payments/evm/chain.ts';
import { soakFaults } from '../../soak/payments/faults.ts';
import { soakKills } from '../../soak/payments/kill.ts';
import { assertKept, smallSoak } from '../support/small-soak.ts';

const transactions = 30;
const small = { ...smallSoak(t, transactions), chain: evmChain('automine') };

t.test('endpoints in trouble, behind the others, and lying', async (t) => {
  // What a node took in silence and forgot is offered again after 20 s: too long for every test run.
  const without = ['transaction dropped in silence'];
  const modes = ['trouble', 'lag', 'lies'] as const;
  const result = await soakFaults({ ...small, modes, endpoints: [3], rate: 0.02, pauseMs: 500, without });
  assertKept(t, result, transactions);
});

t.test('a server that is killed at a step and at random', async (t) => {
  const result = await soakKills({ ...small, kills: 3, everyStep: false });
  assertKept(t, result, transactions);
  t.match(Object.fromEntries(result.lines), { kills: 3, 'at a step': /found 1/ });
});
