/**
 * The smallest runs of `npm run soak`, one on each chain: a server that is killed, and servers behind endpoints that
 * lie. The chain is the judge. What could break the promises: a lost answer taken for a refusal, a lie believed, or
 * bytes signed anew after a crash while the first ones are valid.
 */
import t, { type Test } from 'tap';
import { evmChain } from '../load/soak/payments/evm/chain.ts';
import { soakFaults } from '../load/soak/payments/faults.ts';
import { soakKills } from '../load/soak/payments/kill.ts';
import { soakRestores } from '../load/soak/payments/restores.ts';
import type { SoakOptions, SoakResult } from '../load/soak/payments/run.ts';
import { solanaChain } from '../load/soak/payments/solana/chain.ts';
import { stellarChain } from '../load/soak/payments/stellar/chain.ts';
import { isKept } from '../load/soak/payments/verdict.ts';
import { describeRun } from '../load/soak/report.ts';

const small = (t: Test): Omit<SoakOptions, 'chain' | 'transactions'> => ({
  database: 'sqlite',
  seed: 4,
  patienceMs: 90_000,
  calm: true,
  say: (text) => t.comment(text),
});

/** Asserts that the promises were kept, and that most requests had their effect. */
function assertKept(t: Test, { verdict, lines, faults }: SoakResult, transactions: number): void {
  t.ok(isKept(verdict), describeRun(lines, verdict));
  t.same(faults, []);
  t.ok(verdict.accepted > transactions / 2, `${verdict.accepted} were accepted`);
  t.ok(verdict.confirmed > verdict.accepted / 2, `${verdict.confirmed} were confirmed`);
}

t.test('a server that is killed at a step and at random', async (t) => {
  const transactions = 10;
  const result = await soakKills({
    ...small(t),
    chain: evmChain('automine'),
    transactions,
    kills: 2,
    everyStep: false,
  });
  assertKept(t, result, transactions);
  t.match(Object.fromEntries(result.lines), { kills: 2, 'at a step': /found 1/ });
});

for (const { chain, transactions } of [
  { chain: solanaChain, transactions: 8 },
  { chain: stellarChain, transactions: 5 },
]) {
  t.test(`endpoints that lie: ${chain.name}`, async (t) => {
    const faults = { modes: ['lies'], endpoints: [3], rate: 0.02, pauseMs: 500 } as const;
    assertKept(t, await soakFaults({ ...small(t), ...faults, chain, transactions }), transactions);
  });
}

for (const chain of [evmChain('automine'), solanaChain, stellarChain]) {
  t.test(`a data folder that is put back: ${chain.name}`, async (t) => {
    const result = await soakRestores({ ...small(t), chain, transactions: 60, restores: 2 });
    t.ok(isKept(result.verdict), describeRun(result.lines, result.verdict));
    t.same(result.faults, []);
  });
}
