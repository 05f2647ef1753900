import t from 'tap';
import type { BroadcastOutcome } from '../../../../../src/chains/chain-client.ts';
import { sequenceOf } from '../../../../../src/domain/transaction/anchor.ts';
import type { Attempt } from '../../../../../src/domain/transaction/attempt.ts';
import type { Transaction } from '../../../../../src/domain/transaction/transaction.ts';
import { signPending } from '../../../../../src/engine/lane/attempts/sign-pending.ts';
import { offer } from '../../../../../src/engine/lane/broadcast.ts';
import type { LaneStep } from '../../../../../src/engine/lane/lane-step.ts';
import type { EngineTiming } from '../../../../../src/engine/timing.ts';
import { EngineWorld, present, stepAt } from '../../../../support/engine-world.ts';

/** A step with this many transactions, signed but not offered. */
async function signed(
  world: EngineWorld,
  count: number,
  timing: Partial<EngineTiming> = {},
): Promise<{ step: LaneStep; transactions: Transaction[] }> {
  const pending = [];
  for (let index = 0; index < count; index += 1) pending.push(await world.accept(`pay ${index}`));
  const step = await world.step(timing);
  await signPending(step, pending);
  return { step, transactions: await Promise.all(pending.map((transaction) => world.get(transaction))) };
}

/** Timing under which nothing is offered again during the test. */
const PATIENT = { retryMs: 50_000, retryCapMs: 50_000, reofferMs: 600_000 };

/** Makes the node answer the broadcasts with these outcomes in turn. Returns the sequences offered to it. */
function answers(world: EngineWorld, outcomes: BroadcastOutcome['kind'][]): bigint[] {
  const offered: bigint[] = [];
  world.client.broadcast = async (attempts: readonly Attempt[]) =>
    attempts.map(({ anchor }) => {
      offered.push(sequenceOf(anchor) ?? -1n);
      const kind = outcomes.shift() ?? 'accepted';
      return kind === 'accepted' ? { kind } : { kind, reason: `node says ${kind}` };
    });
  return offered;
}

t.test('taken bytes are submitted, lowest sequence first', async (t) => {
  const world = await EngineWorld.open(t);
  const { step, transactions } = await signed(world, 3);
  const offered = answers(world, []);
  const { offered: count, notTaken } = await offer(step);
  t.strictSame([count, notTaken], [3, []]);
  t.strictSame(offered, [0n, 1n, 2n]);
  for (const transaction of transactions) {
    const now = await world.get(transaction);
    t.equal(now.status, 'submitted');
    t.ok(now.sentAt !== null && now.nextActionAt !== null && now.nextActionAt > 0);
    t.ok((await world.store.read.attempts(transaction.id))[0]?.acceptedAt);
  }
});

for (const kind of ['unknown', 'refused', 'busy', 'unfunded', 'anchor-used'] as const) {
  t.test(
    `an offer with the outcome ${kind} is repeated later, stops nobody and is looked for on the chain`,
    async (t) => {
      const world = await EngineWorld.open(t);
      const { step, transactions } = await signed(world, 3);
      const offered = answers(world, ['accepted', kind]);
      const { notTaken } = await offer(step);
      t.strictSame(offered, [0n, 1n, 2n]);
      t.strictSame(
        notTaken.map(({ transaction }) => transaction.id),
        [transactions[1]?.id],
      );
      const [, failed, behind] = await Promise.all(transactions.map((transaction) => world.get(transaction)));
      t.match(failed, { status: 'sent', statusReason: `node says ${kind}`, hash: transactions[1]?.hash });
      t.ok((failed?.nextActionAt ?? 0) > (transactions[1]?.nextActionAt ?? 0));
      t.equal(behind?.status, 'submitted');
      t.equal(step.memory.offers.anotherFor(failed?.id ?? ''), undefined);
    },
  );
}

for (const kind of ['underpriced', 'fee-too-low'] as const) {
  t.test(`an offer with the outcome ${kind} asks for a dearer version`, async (t) => {
    const world = await EngineWorld.open(t);
    const { step, transactions } = await signed(world, 1);
    answers(world, [kind]);
    await offer(step);
    t.ok(step.memory.offers.anotherFor(transactions[0]?.id ?? ''));
  });
}

t.test('a withdrawn payment is not offered again; its noop is, once it is signed', async (t) => {
  const world = await EngineWorld.open(t);
  const { step, transactions } = await signed(world, 2);
  const [first] = transactions;
  const entry = present(step.open.entries.get(first?.id ?? ''));
  step.open.set(entry.transaction.id, { ...entry, transaction: { ...entry.transaction, noopEnd: 'expired' } });
  const offered = answers(world, ['anchor-ahead', 'anchor-ahead']);
  await offer(step);
  t.strictSame(offered, [1n, 1n], 'not even for a node that misses it');
  const [attempt] = entry.attempts;
  step.open.set(entry.transaction.id, {
    ...present(step.open.entries.get(entry.transaction.id)),
    attempts: [{ ...present(attempt), purpose: 'noop' }],
  });
  await offer(step);
  t.equal(offered[2], 0n);
});

t.test('what can never execute is not offered', async (t) => {
  const world = await EngineWorld.open(t);
  const { step, transactions } = await signed(world, 2);
  const entry = present(step.open.entries.get(present(transactions[0]).id));
  const [attempt] = entry.attempts;
  step.open.set(entry.transaction.id, { ...entry, attempts: [{ ...present(attempt), deadAt: 1 }] });
  step.memory.offers.missing(entry.transaction.id);
  const offered = answers(world, []);
  await offer(step);
  t.strictSame(offered, [1n]);
});

t.test('a node that misses a lower sequence gets all lower ones first, once in a round', async (t) => {
  const world = await EngineWorld.open(t);
  const { step: hasty, transactions } = await signed(world, 3);
  const step = { ...hasty, timing: { ...hasty.timing, reofferMs: 60_000 } };
  answers(world, []);
  await offer(step);
  for (const { id } of transactions.slice(1)) {
    const entry = step.open.entries.get(id);
    if (entry === undefined) throw new Error('not open');
    step.open.set(id, { ...entry, transaction: { ...entry.transaction, nextActionAt: 0 } });
    step.memory.offers.forget(id);
  }

  const offered = answers(world, ['anchor-ahead', 'anchor-ahead', 'accepted', 'accepted', 'anchor-ahead']);
  await offer(step);
  t.strictSame(offered, [1n, 2n, 0n, 1n, 2n]);
  const [first, second, third] = await Promise.all(transactions.map((transaction) => world.get(transaction)));
  t.equal(first?.status, 'submitted');
  t.match(second, { status: 'submitted', statusReason: null });
  t.match(third, { status: 'submitted', statusReason: 'node says anchor-ahead' });
});

t.test('what a node took lately is not offered again; what it was silent about for long is', async (t) => {
  const world = await EngineWorld.open(t);
  const { step: hasty, transactions } = await signed(world, 1);
  const step = { ...hasty, timing: { ...hasty.timing, reofferMs: 60_000 } };
  const offered = answers(world, []);
  await offer(step);
  const id = transactions[0]?.id ?? '';
  const entry = step.open.entries.get(id);
  if (entry === undefined) throw new Error('not open');
  step.open.set(id, { ...entry, transaction: { ...entry.transaction, nextActionAt: 0 } });

  await offer(step);
  t.equal(offered.length, 1);
  await offer(stepAt(step, { elapsed: () => performance.now() + step.timing.reofferMs }));
  t.equal(offered.length, 2);
});

t.test('a client that throws changes no status', async (t) => {
  const world = await EngineWorld.open(t);
  const { step, transactions } = await signed(world, 1);
  world.client.broadcast = () => Promise.reject(new Error('bug'));
  await offer(step);
  t.match(await world.get(present(transactions[0])), { status: 'sent', statusReason: 'bug' });
});

t.test('nothing is offered where the store has no bytes', async (t) => {
  const world = await EngineWorld.open(t);
  const { step, transactions } = await signed(world, 1);
  const transaction = present(transactions[0]);
  step.open.set(transaction.id, { transaction, attempts: [] });
  t.match(await offer(step), { offered: 0 });
  t.strictSame(world.chain.received, []);
});

t.test('who took a version is kept, and who did not is told once with the reason', async (t) => {
  const world = await EngineWorld.open(t);
  const { step, transactions } = await signed(world, 1);
  const { id } = present(transactions[0]);
  const due = () => world.store.write((writer) => writer.updateTransaction(id, 'sent', { nextActionAt: 0 }));
  let outcome: BroadcastOutcome = { kind: 'busy', reason: 'txpool is full', by: 'https://a.test' };
  world.client.broadcast = async () => [outcome];
  await offer(step);
  await due();
  await offer({ ...step, open: (await world.step()).open });
  const told = { kind: 'not-taken', text: 'Attempt 1 not taken by https://a.test (busy): txpool is full' };
  t.match(await world.store.read.decisions(id, 10), [told]);
  t.equal((await world.store.read.decisions(id, 10)).length, 1);
  t.equal(world.logLines.filter((line) => line.includes('bytes not taken')).length, 1);

  await due();
  outcome = { kind: 'accepted', by: 'https://b.test' };
  await offer({ ...step, open: (await world.step()).open });
  t.match(await world.store.read.attempts(id), [{ acceptedBy: 'https://b.test' }]);
  t.strictSame(world.metrics.offers, ['busy', 'busy', 'accepted']);
  t.strictSame(world.metrics.versions, ['send']);
});

t.test('above one that nodes have no room for nothing is offered; it says why and comes with that one', async (t) => {
  const world = await EngineWorld.open(t);
  const { step, transactions } = await signed(world, 3, PATIENT);
  const [first, second, third] = transactions.map(({ id }) => present(step.open.entries.get(id)));
  step.open.delete(present(third).transaction.id);
  const offered = answers(world, ['busy', 'busy']);
  await offer(step);
  step.open.set(present(third).transaction.id, present(third));
  await offer(step);
  t.strictSame(offered, [0n, 1n]);
  const text = 'Attempt 1 not offered: no room for 0, which comes before it';
  const until = (await world.get(present(first).transaction)).nextActionAt;
  t.match(await world.get(present(third).transaction), { status: 'sent', statusReason: text, nextActionAt: until });
  const told = (await world.store.read.decisions(present(third).transaction.id, 10)).map(({ text }) => text);
  t.equal(told.at(-1), text);
  for (const entry of [first, second, third]) step.memory.offers.missing(present(entry).transaction.id);
  await offer(step);
  t.strictSame(offered.slice(2), [0n, 1n, 2n], 'when there is room, all come in order');
});

t.test(
  'when nodes took something above, there is room again: what they turned away before comes at once',
  async (t) => {
    const world = await EngineWorld.open(t);
    const { step } = await signed(world, 4, PATIENT);
    const offered = answers(world, ['accepted', 'busy', 'accepted', 'busy']);
    await offer(step);
    await offer(step);
    t.strictSame(offered.slice(4), [1n]);
    await offer(step);
    t.equal(offered.length, 5, 'the last one waits for its time');
  },
);
