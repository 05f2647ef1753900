import t from 'tap';
import { broadcastDueTransactions } from '../../../../../src/engine/lane/broadcast.ts';
import { withdrawn } from '../../../../../src/engine/lane/decide.ts';
import { applyToOpen, type LaneStep } from '../../../../../src/engine/lane/lane-step.ts';
import type { OpenTransaction } from '../../../../../src/engine/lane/ledger.ts';
import { signPending } from '../../../../../src/engine/lane/sign-pending.ts';
import type { Transaction } from '../../../../../src/features/transactions/records/transaction.ts';
import { EngineWorld, present, signDueAttempts, stepAt } from '../../../../support/engine-world.ts';
import { VOID } from '../../../../support/fake-chain-client.ts';

interface Scene {
  world: EngineWorld;
  step: LaneStep;
  transaction: Transaction;
}

/** One signed transaction. It is also offered unless `offered` is false. */
async function scene(
  t: { teardown(end: () => Promise<void>): void },
  { offered = true, ...more }: Partial<Transaction> & { offered?: boolean } = {},
): Promise<Scene> {
  const world = await EngineWorld.open(t);
  const pending = await world.accept('pay', more);
  const step = await world.step({ furtherMs: 60_000 });
  await signPending(step, [pending]);
  if (offered) await broadcastDueTransactions(step);
  return { world, step, transaction: await world.get(pending) };
}

/** The same step, seen this many milliseconds later. */
const afterMs = (step: LaneStep, ms: number): LaneStep =>
  stepAt(step, { now: () => Date.now() + ms, elapsed: () => performance.now() + ms });

const effects = (world: EngineWorld) =>
  world.chain.received.map((raw) => (JSON.parse(raw) as { effect: string }).effect);

t.test('an attempt that is on offer and not late is left alone', async (t) => {
  const { world, step, transaction } = await scene(t);
  t.equal(await signDueAttempts(step), 0);
  t.strictSame(await world.get(transaction), transaction);
});

t.test('a network that is silent for too long is offered a dearer version with the same sequence', async (t) => {
  const { world, step, transaction } = await scene(t);
  world.client.patience = 0;
  t.equal(await signDueAttempts(step), 1);
  const [first, second, ...others] = await world.store.read.attempts(transaction.id);
  t.strictSame(others, []);
  t.equal(second?.purpose, 'bump');
  t.strictSame(second?.anchor, first?.anchor);
  t.ok(Number(second?.fields['price']) > Number(first?.fields['price']));
  const now = await world.get(transaction);
  t.match(now, { status: 'submitted', hash: second?.hash });
  t.match(await world.store.read.decisions(transaction.id, 10), [{ kind: 'bumped' }]);
  t.equal(world.chain.received.length, 1, 'nothing leaves before it is written');
  await broadcastDueTransactions(step);
  t.equal(world.chain.received.length, 2);
  t.ok(world.reached.includes('further-signed') && world.reached.includes('further-written'));
});

t.test(
  'a clock that is set back makes the network’s silence no shorter, and one that is set ahead no longer',
  async (t) => {
    const { world, step } = await scene(t);
    world.client.patience = 60_000;
    t.equal(await signDueAttempts(step), 0);
    t.equal(await signDueAttempts(stepAt(step, { now: () => Date.now() + 3_600_000 })), 0, 'no time has passed');
    const back = stepAt(step, { now: () => Date.now() - 3_600_000 });
    t.equal(await signDueAttempts(back), 0);
    t.equal(await signDueAttempts(stepAt(back, { elapsed: () => performance.now() + 60_000 })), 1);
  },
);

t.test('a version that nobody was offered yet is not outbid', async (t) => {
  const { world, step } = await scene(t, { offered: false });
  world.client.patience = 0;
  t.equal(await signDueAttempts(step), 0);
});

t.test('a cap that forbids a dearer version parks it, says so once, and the old bytes stay', async (t) => {
  const { world, step, transaction } = await scene(t);
  Object.assign(world.client, { patience: 0, cap: 1n });
  t.equal(await signDueAttempts(step), 1);
  t.equal(await signDueAttempts(step), 0, 'it is not tried again at once');
  t.match(await world.get(transaction), { status: 'submitted', statusReason: 'the price is above the cap' });
  t.equal((await world.store.read.attempts(transaction.id)).length, 1);
  t.match(await world.store.read.decisions(transaction.id, 10), [{ kind: 'parked' }]);

  world.client.cap = null;
  t.equal(
    await signDueAttempts(stepAt(step, { elapsed: () => performance.now() + step.timing.furtherMs })),
    1,
    'resumed',
  );
});

t.test(
  'nodes that ask for more get it at once a few times, and then now and then for as long as they ask',
  async (t) => {
    const { world, step, transaction } = await scene(t);
    const ask = async (elapsed: number) => {
      step.memory.offers.wantsAnother(transaction.id, 'underpriced');
      await signDueAttempts(stepAt(step, { elapsed: () => elapsed }));
      return (await world.store.read.attempts(transaction.id)).length;
    };
    const began = performance.now();
    for (let version = 2; version <= 8; version += 1) t.equal(await ask(began), version);
    t.equal(await ask(began), 8, 'pauses');
    t.equal(await ask(began + step.timing.reofferMs), 9);
    t.equal(await ask(began + step.timing.reofferMs), 9);
  },
);

t.test('a noop that every node refuses is made anew', async (t) => {
  const { world, step, transaction } = await scene(t, { validUntil: Date.now() + 60_000 });
  const late = afterMs(step, 60_001);
  await signDueAttempts(late);
  for (let refusal = 0; refusal < 3; refusal += 1) step.memory.offers.refused(transaction.id, 0);
  t.equal(await signDueAttempts(late), 1);
  const attempts = await world.store.read.attempts(transaction.id);
  t.strictSame(
    attempts.map(({ purpose }) => purpose),
    ['send', 'noop', 'noop'],
  );
});

t.test('what waits for a lower sequence is not made dearer: its turn is what it waits for', async (t) => {
  const world = await EngineWorld.open(t);
  const pending = [await world.accept('head'), await world.accept('follower')];
  const step = await world.step({ furtherMs: 60_000 });
  await signPending(step, pending);
  world.chain.unacceptable.add('head');
  await broadcastDueTransactions(step);
  world.client.patience = 0;
  t.equal(await signDueAttempts(step), 0);
  world.chain.unacceptable.clear();
  const later = stepAt(step, { now: () => Date.now() + 60_000 });
  await broadcastDueTransactions(later);
  t.equal(await signDueAttempts(later), 2);
});

t.test('what waits above a sequence that nobody holds is not made dearer either', async (t) => {
  const world = await EngineWorld.open(t);
  const pending = [await world.accept('below'), await world.accept('gone'), await world.accept('above')];
  const step = await world.step({ furtherMs: 60_000 });
  await signPending(step, pending);
  await broadcastDueTransactions(step);
  const [below, gone, above] = pending.map(({ id }) => present(step.open.entries.get(id)));
  step.open.delete(present(gone).transaction.id);
  world.client.patience = 0;
  t.equal(await signDueAttempts(step), 1);
  const versionsOf = async ({ transaction: { id } }: OpenTransaction) => (await world.store.read.attempts(id)).length;
  t.strictSame([await versionsOf(present(below)), await versionsOf(present(above))], [2, 1]);
});

t.test('noops are signed before dearer versions, a batch at a time', async (t) => {
  const world = await EngineWorld.open(t);
  const pending: Transaction[] = [];
  for (let index = 0; index < 5; index += 1) pending.push(await world.accept(`pay ${index}`));
  const step = await world.step({ furtherMs: 60_000, batch: 2, reofferMs: 3_600_000 });
  await signPending(step, pending);
  await broadcastDueTransactions(step);
  for (const { id } of pending) step.memory.offers.wantsAnother(id, 'underpriced');
  const last = present(step.open.entries.get(present(pending.at(-1)).id));
  await applyToOpen(step, [withdrawn(last.transaction, 'canceled', 'canceled', 'no longer wanted', step.clock.now())]);
  const signed = async () => {
    const attempts = await Promise.all(pending.map(({ id }) => world.store.read.attempts(id)));
    return attempts.map((versions) =>
      versions
        .slice(1)
        .map(({ purpose }) => purpose)
        .join(),
    );
  };
  t.equal(await signDueAttempts(step), 2);
  t.strictSame(await signed(), ['bump', '', '', '', 'noop']);
  await broadcastDueTransactions(step);
  t.equal(await signDueAttempts(step), 2);
  t.strictSame(await signed(), ['bump', 'bump', 'bump', '', 'noop']);
  await broadcastDueTransactions(step);
  t.equal(await signDueAttempts(step), 1);
  t.equal(await signDueAttempts(step), 0);
});

for (const [offered, what] of [
  [true, 'on offer'],
  [false, 'signed and never offered'],
] as const) {
  t.test(`what expires while it is ${what} gives its sequence to a noop`, async (t) => {
    const { world, step, transaction } = await scene(t, { offered, validUntil: Date.now() + 60_000 });
    const late = afterMs(step, 60_001);
    t.equal(await signDueAttempts(late), 1);
    t.match(await world.get(transaction), {
      noopEnd: 'expired',
      statusReason: 'valid_until passed before it was in a block',
    });
    await broadcastDueTransactions(late);
    t.strictSame(effects(world), offered ? ['pay', VOID] : [VOID], 'its own bytes are not offered any more');
  });
}

for (const [what, replacement] of [
  ['nothing can take its place', { can: () => false }],
  ['the family knows no replacement', undefined],
] as const) {
  t.test(`where ${what}, silence leads to nothing, and what expires is offered no more`, async (t) => {
    const { world, step, transaction } = await scene(t, { validUntil: Date.now() + 60_000 });
    const known = { ...world.client.replacement, patienceMs: () => 0 };
    Object.assign(world.client, { replacement: replacement && { ...known, ...replacement } });
    step.memory.offers.wantsAnother(transaction.id, 'underpriced');
    t.equal(await signDueAttempts(step), 0);
    t.equal((await world.get(transaction)).noopEnd, null);

    const late = afterMs(step, 60_001);
    t.equal(await signDueAttempts(late), 0);
    t.match(await world.get(transaction), { status: 'submitted', noopEnd: 'expired' });
    t.match(await broadcastDueTransactions(late), { offered: 0 });
    t.strictSame(effects(world), ['pay']);
    t.equal((await world.store.read.attempts(transaction.id)).length, 1);
  });
}

t.test('a payment that every node refuses again and again fails, and a noop takes its sequence', async (t) => {
  const { world, step, transaction } = await scene(t, { offered: false });
  world.chain.unacceptable.add('pay');
  for (let round = 0; round < 3; round += 1) {
    const entry = present(step.open.entries.get(transaction.id));
    step.open.set(transaction.id, { ...entry, transaction: { ...entry.transaction, nextActionAt: 0 } });
    t.equal(await signDueAttempts(step), 0);
    await broadcastDueTransactions(step);
  }
  const later = stepAt(step, { elapsed: () => performance.now() + step.timing.refusalMs });
  t.equal(await signDueAttempts(later), 1);
  t.match(await world.get(transaction), { noopEnd: 'failed', statusReason: /^No node takes it: transaction type/ });
});

t.test('a noop is outbid by a noop', async (t) => {
  const { world, step, transaction } = await scene(t, { validUntil: Date.now() + 60_000 });
  const late = afterMs(step, 60_001);
  await signDueAttempts(late);
  await broadcastDueTransactions(late);
  world.client.patience = 0;
  world.client.cap = 1n;
  t.equal(await signDueAttempts(afterMs(step, 120_000)), 1);
  const attempts = await world.store.read.attempts(transaction.id);
  t.strictSame(
    attempts.map(({ purpose }) => purpose),
    ['send', 'noop', 'noop'],
  );
});

t.test('a payment whose dearer version is refused fails with that reason', async (t) => {
  const { world, step, transaction } = await scene(t);
  world.client.patience = 0;
  world.client.replacement.prepare = async (_, { purpose }) =>
    purpose === 'bump'
      ? { kind: 'refused', reason: 'beyond the block' }
      : { kind: 'ready', request: { effect: VOID, cost: '0' }, fields: { price: '9' }, cost: 0n };
  t.equal(await signDueAttempts(step), 1);
  t.match(await world.get(transaction), { noopEnd: 'failed', statusReason: 'beyond the block' });
  t.equal(await signDueAttempts(step), 1);
});
