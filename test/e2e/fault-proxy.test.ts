/**
 * The soaks of `npm run soak`, small: a real server behind endpoints that do wrong, and one that is killed, with the
 * chain itself as the judge. What could break the promises: a lost answer taken for a refusal, a lie believed, bytes
 * signed anew after a crash.
 */
import t, { type Test } from 'tap';
import { evmChain } from '../../soak/payments/evm/chain.ts';
import { soakFaults } from '../../soak/payments/faults.ts';
import { soakKills } from '../../soak/payments/kill.ts';
import type { SoakOptions, SoakResult } from '../../soak/payments/run.ts';
import { isKept } from '../../soak/payments/verdict.ts';
import { describeRun } from '../../soak/report.ts';

const small: SoakOptions = {
  transactions: 30,
  database: 'sqlite',
  chain: evmChain('automine'),
  seed: 4,
  patienceMs: 60_000,
  calm: true,
  say: (text) => t.comment(text),
};

function assertKept(test: Test, { verdict, lines, faults }: SoakResult): void {
  test.ok(isKept(verdict), describeRun(lines, verdict));
  test.same(faults, []);
  test.ok(verdict.accepted >= small.transactions - 5, `${verdict.accepted} were accepted`);
  test.ok(verdict.confirmed > verdict.accepted / 2, `${verdict.confirmed} were confirmed`);
}

t.test('endpoints in trouble, behind the others, and lying', async (t) => {
  // What a node took in silence and forgot is offered again after 20 s: too long for every test run.
  const without = ['transaction dropped in silence'] as const;
  assertKept(
    t,
    await soakFaults({
      ...small,
      modes: ['trouble', 'lag', 'lies'],
      endpoints: [3],
      rate: 0.02,
      pauseMs: 500,
      without,
    }),
  );
});

t.test('a server that is killed at a step and at random', async (t) => {
  const result = await soakKills({ ...small, kills: 3, everyStep: false });
  assertKept(t, result);
  t.match(Object.fromEntries(result.lines), { kills: 3, 'at a step': /found 1/ });
});
