import t, { type Test } from 'tap';
import { parkTransaction, pricePending } from '../../../../../../src/engine/lane/attempts/prepare.ts';
import { signPending } from '../../../../../../src/engine/lane/attempts/sign-pending.ts';
import { signDueAttempts } from '../../../../../../src/engine/lane/due-attempts.ts';
import type { TransactionStatus } from '../../../../../../src/features/transactions/records/transaction-state.ts';
import { EngineWorld, pendingTransaction, present, stepAt } from '../../../../../support/engine-world.ts';
import { attemptOf } from '../../../../../support/store.ts';

t.test(
  'the refused fail with their reason, the parked wait as long as they were told, the rest may be signed',
  async (t) => {
    const world = await EngineWorld.open(t);
    const step = stepAt(await world.step(), { now: () => 1_000 });
    const [ready, refused, parked] = [await world.accept('a'), await world.accept('b'), await world.accept('c')];
    world.client.onPrepare = ({ id }) => {
      if (id === refused.id) return { kind: 'refused', reason: 'gas limit above the block' };
      return id === parked.id ? { kind: 'parked', reason: 'gas price above the cap', retryInMs: 5_000 } : undefined;
    };

    const priced = await pricePending(step, [ready, refused, parked]);
    t.strictSame(
      priced.map(({ transaction }) => transaction.id),
      [ready.id],
    );
    t.match(await world.get(refused), {
      status: 'failed',
      statusReason: 'gas limit above the block',
      nextActionAt: null,
    });
    t.match(await world.get(parked), {
      status: 'pending',
      statusReason: 'gas price above the cap (checked again at 1970-01-01T00:00:06.000+00:00)',
      nextActionAt: 6_000,
    });
  },
);

t.test('the balance is not promised twice within a batch', async (t) => {
  const world = await EngineWorld.open(t);
  world.chain.balance = 10n;
  const batch = [];
  for (const cost of ['6', '6', '4']) batch.push(await world.accept('pay', { request: { effect: cost, cost } }));

  const priced = await pricePending(await world.step(), batch);
  t.strictSame(
    priced.map(({ transaction }) => transaction.request['cost']),
    ['6', '4'],
  );
  t.match(await world.get(present(batch[1])), { status: 'pending', statusReason: /^Insufficient balance \(checked/ });
});

t.test('what signed transactions may cost is not promised again', async (t) => {
  const world = await EngineWorld.open(t);
  world.chain.balance = 10n;
  const step = await world.step();
  const open = pendingTransaction('open', { status: 'submitted', sequence: 0n, request: { effect: 'x', cost: '7' } });
  step.open.set(open.id, {
    transaction: open,
    attempts: [attemptOf(open), attemptOf(open, { request: { cost: '2' } })],
  });
  const transaction = await world.accept('pay', { request: { effect: 'y', cost: '4' } });

  t.strictSame(await pricePending(step, [transaction]), []);
  t.equal((await world.get(transaction)).status, 'pending');
});

t.test('trouble with the endpoints fails nothing: the pause grows', async (t) => {
  const world = await EngineWorld.open(t);
  world.chain.fault = () => 'request-lost';
  const transaction = await world.accept('pay');
  const step = stepAt(await world.step(), { now: () => 1_000 });
  t.strictSame(await pricePending(step, [transaction]), []);
  const after = await world.get(transaction);
  t.match(after, { status: 'pending', statusReason: /prepare timed out/, nextActionAt: 1_002 });
  await pricePending(step, [transaction]);
  t.equal((await world.get(transaction)).nextActionAt, 1_004);
});

t.test('one of an unknown relayer holds up none but itself', async (t) => {
  const world = await EngineWorld.open(t);
  const [lost, fine] = [await world.accept('a'), await world.accept('b')];
  const priced = await pricePending(await world.step(), [{ ...lost, relayerId: 'gone' }, fine]);
  t.strictSame(
    priced.map(({ transaction }) => transaction.id),
    [fine.id],
  );
  t.match(await world.get(lost), { status: 'pending', statusReason: 'Relayer gone is gone' });
});

t.test('that a transaction waits for a price is told once, and that it goes on when it is signed', async (t) => {
  const world = await EngineWorld.open(t);
  const step = await world.step();
  const transaction = await world.accept('pay');
  let gwei = 40;
  world.client.onPrepare = () =>
    gwei > 30 ? { kind: 'parked', reason: `asks for ${gwei}`, cause: 'price', retryInMs: 5 } : undefined;
  for (gwei of [40, 41, 42]) await signPending(step, [await world.get(transaction)]);
  t.match(step.memory.offers.parked(), [{ relayerId: 'r1', cause: 'price' }]);
  gwei = 20;
  await signPending(step, [await world.get(transaction)]);
  t.strictSame(step.memory.offers.parked(), []);
  const told = (await world.store.read.decisions(transaction.id, 10)).map(({ kind, text }) => [kind, text]);
  t.strictSame(told, [
    ['parked', 'asks for 40'],
    ['resumed', 'No longer blocked (price)'],
  ]);
});

const REASON = 'A trustline is needed first';
const NEEDED = {
  request: { effect: 'trust' },
  validUntil: 9_000,
  anchorKind: 'sequence',
  onDeath: 'renew',
  contentKey: null,
} as const;

/** A transaction that needs a prerequisite first, and a function that prices it again. */
async function withPrerequisite(t: Test) {
  const world = await EngineWorld.open(t);
  const step = stepAt(await world.step({ lookMs: 50 }), { now: () => 1_000 });
  const transaction = await world.accept('pay');
  world.client.onPrepare = ({ id }) =>
    id === transaction.id ? { kind: 'first', first: { ...NEEDED }, reason: REASON } : undefined;
  return { world, transaction, priceIt: async () => pricePending(step, [await world.get(transaction)]) };
}

t.test('a prerequisite becomes one transaction of its own, and the other waits for it', async (t) => {
  const { world, transaction, priceIt } = await withPrerequisite(t);
  t.strictSame(await priceIt(), []);
  await priceIt();
  const [first, ...others] = await world.store.read.children(transaction.id);
  t.strictSame(others, []);
  t.match(first, {
    ...NEEDED,
    parentId: transaction.id,
    relayerId: transaction.relayerId,
    lane: transaction.lane,
    status: 'pending',
    statusReason: REASON,
    createdAt: 1_000,
    nextActionAt: 1_000,
    fields: {},
  });
  t.match(await world.get(transaction), {
    status: 'pending',
    statusReason: new RegExp(`^${REASON} \\(checked again at `),
    nextActionAt: 1_050,
  });
  t.match(await world.store.read.decisions(transaction.id, 9), [{ kind: 'parked', text: REASON }]);
});

for (const [status, ends] of [
  ['pending', false],
  ['confirmed', false],
  ['failed', true],
  ['canceled', true],
  ['expired', true],
] as const satisfies [TransactionStatus, boolean][]) {
  t.test(`the other ${ends ? 'fails with' : 'waits for'} one that is ${status}`, async (t) => {
    const { world, transaction, priceIt } = await withPrerequisite(t);
    await priceIt();
    const child = present((await world.store.read.children(transaction.id))[0]);
    if (status !== 'pending') {
      if (status === 'confirmed') await world.ledger().apply([{ transaction: child, set: { status: 'sent' } }]);
      await world.ledger().apply([{ transaction: await world.get(child), set: { status } }]);
    }
    await priceIt();
    t.equal((await world.store.read.children(transaction.id)).length, 1, 'it is not tried again');
    const { status: now, statusReason } = await world.get(transaction);
    t.equal(now, ends ? 'failed' : 'pending');
    if (ends) t.equal(statusReason, `${REASON}: transaction ${child.id} ended as ${status}`);
  });
}

t.test(
  'the more wait, the rarer each is looked at, and never so rarely that it seems set by another clock',
  async (t) => {
    const world = await EngineWorld.open(t);
    const transaction = await world.accept('pay');
    for (const [crowd, pauseMs] of [
      [1_000, 10_000],
      [6_000, 30_000],
      [100_000, 50_000],
    ] as const) {
      const step = stepAt(await world.step(), { now: () => 1_000 });
      for (let index = 1; index < crowd; index += 1) step.memory.offers.failed(String(index));
      const { set } = parkTransaction(step, transaction, 'balance', { reason: 'no money', pauseMs: 10_000 });
      t.equal(set.nextActionAt, 1_000 + pauseMs);
    }
  },
);

/** Transactions of the fake chain cost 10: their value of 3, and a fee of at most 7. */
const COST = { effect: 'pay', cost: '3' };

async function withFeeBudget(t: Test, feeLimit: bigint, count: number) {
  const world = await EngineWorld.open(t);
  world.client.onPrepare = () => ({ kind: 'ready', fields: { price: '1' }, cost: 10n });
  const transactions = Array.from({ length: count }, () => pendingTransaction('pay', { request: COST }));
  for (const transaction of transactions) {
    await world.store.write(async (writer) => {
      const { id: transactionId } = transaction;
      const budget = { pluginId: 'p', relayerId: 'r1', value: 3n, fee: null, valueLimit: null, feeLimit };
      await writer.reserveSpending({ transactionId, ...budget });
      await writer.insertTransaction(transaction);
    });
  }
  return { world, transactions, spent: () => world.store.read.spentLastHour('p', 'r1') };
}

t.test('only those are signed whose fee the budget bears; the others wait without a sequence', async (t) => {
  const { world, transactions, spent } = await withFeeBudget(t, 20n, 4);
  const free = await world.accept('free');
  const step = await world.step();
  await signPending(step, [...transactions, free]);
  const found = await Promise.all([...transactions, free].map((one) => world.get(one)));
  t.strictSame(
    found.map(({ status, sequence }) => [status, sequence]),
    [
      ['sent', 0n],
      ['sent', 1n],
      ['pending', null],
      ['pending', null],
      ['sent', 2n],
    ],
  );
  const parked = present(found[2]);
  t.match(
    parked.statusReason,
    /^Plugin p has 6 left of fee_per_hour 20, and the fee can be 7 more \(checked again at /,
  );
  t.ok((parked.nextActionAt ?? 0) > Date.now() - 1000);
  t.strictSame(await spent(), { value: 12n, fee: 14n });
});

t.test('what ends gives back what it did not take, and those that waited go on', async (t) => {
  const { world, transactions, spent } = await withFeeBudget(t, 11n, 5);
  const engine = world.engine();
  t.teardown(() => engine.close());
  await engine.start();
  for (const transaction of transactions) await world.untilStatus(transaction, 'confirmed', { mining: true });
  t.strictSame(await spent(), { value: 15n, fee: 5n });
});

t.test('a dearer version waits for the budget; the bytes that there are stay on offer', async (t) => {
  const { world, transactions, spent } = await withFeeBudget(t, 7n, 1);
  const transaction = present(transactions[0]);
  await signPending(await world.step(), transactions);
  const step = await world.step();
  step.memory.offers.wantsAnother(transaction.id, 'underpriced');
  world.client.onPrepareVersion = (prepared) => ({ ...prepared, cost: 11n });
  t.equal(await signDueAttempts(step), 1);
  t.match(await world.get(transaction), { status: 'sent', statusReason: /^Plugin p has 0 left of fee_per_hour 7/ });
  t.equal((await world.store.read.attempts(transaction.id)).length, 1);
  t.strictSame(await spent(), { value: 3n, fee: 7n });
});

t.test('a noop is paid for even beyond the budget, and counts against it', async (t) => {
  const { world, transactions, spent } = await withFeeBudget(t, 7n, 1);
  const transaction = present(transactions[0]);
  await signPending(await world.step(), transactions);
  const sent = await world.get(transaction);
  await (await world.step()).ledger.apply([{ transaction: sent, set: { noopEnd: 'canceled' } }]);
  world.client.onPrepareVersion = (prepared) => ({ ...prepared, cost: 50n });
  t.equal(await signDueAttempts(await world.step()), 1);
  t.strictSame(await spent(), { value: 3n, fee: 50n });
});
