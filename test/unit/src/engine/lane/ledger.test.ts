import t, { type Test } from 'tap';
import { ChangeFeed } from '../../../../../src/engine/change-feed.ts';
import { OpenTransactions } from '../../../../../src/engine/lane/open-transactions.ts';
import { type Attempt, UNACCEPTED_ATTEMPT } from '../../../../../src/features/transactions/records/attempt.ts';
import type { Transaction } from '../../../../../src/features/transactions/records/transaction.ts';
import { isFinal } from '../../../../../src/features/transactions/records/transaction-state.ts';
import type { Store, StoreWriter } from '../../../../../src/store/store.ts';
import { EngineWorld, LANE, pendingTransaction, relayerNamed } from '../../../../support/engine-world.ts';

function attemptOf({ id }: Transaction, sequence: bigint): Attempt {
  const hash = `hash of ${id}`;
  const about = {
    transactionId: id,
    ordinal: 1,
    lane: LANE,
    anchor: { kind: 'sequence', sequence },
    purpose: 'send',
    request: {},
    fields: {},
  } as const;
  return { ...about, raw: 'bytes', hash, createdAt: 1, ...UNACCEPTED_ATTEMPT };
}

t.test('changes are committed, then told and counted', async (t) => {
  const world = await EngineWorld.open(t);
  const feed = new ChangeFeed(() => {});
  const ledger = world.ledger(world.store, { feed });
  const transaction = await world.accept('pay');
  const told: string[] = [];
  feed.on(transaction.id, () => told.push('told'));

  const now = await ledger.apply([{ transaction, set: { status: 'failed', statusReason: 'no', nextActionAt: null } }]);
  t.equal(now.get(transaction.id)?.status, 'failed');
  t.equal((await world.get(transaction)).statusReason, 'no');
  t.strictSame(told, ['told']);
  t.strictSame(world.metrics.of('transaction_transitions'), ['r1 evm pending failed']);
  t.strictSame(world.metrics.of('transactions_failed'), ['r1 evm failed pending']);
});

t.test('what was submitted first, confirmed or failed is counted as such', async (t) => {
  const world = await EngineWorld.open(t);
  const ledger = world.ledger();
  let transaction = await world.accept('pay');
  for (const status of ['sent', 'submitted', 'mined', 'submitted', 'mined', 'confirmed'] as const) {
    await ledger.apply([{ transaction, set: { status, nextActionAt: isFinal(status) ? null : 1 } }]);
    transaction = await world.get(transaction);
  }
  await ledger.apply([{ transaction: await world.accept('late'), set: { status: 'expired', nextActionAt: null } }]);
  const { metrics } = world;
  t.equal(metrics.of('transaction_transitions').length, 7);
  t.strictSame(metrics.of('transactions_submitted'), ['r1 evm'], 'not again when its block is gone');
  t.strictSame(metrics.of('transactions_confirmed'), ['r1 evm']);
  t.strictSame(metrics.of('transactions_failed', 'failure_reason', 'previous_status'), ['expired pending']);
});

t.test('a change against a status that has gone by is left out, the others are made', async (t) => {
  const world = await EngineWorld.open(t);
  const ledger = world.ledger();
  const [stale, fresh] = [await world.accept('a'), await world.accept('b')];
  await world.store.write((writer) => writer.updateTransaction(stale.id, 'pending', { status: 'canceled' }));

  const now = await ledger.apply([
    { transaction: stale, set: { statusReason: 'late' } },
    { transaction: fresh, set: { statusReason: 'in time' } },
  ]);
  t.strictSame([...now.keys()], [fresh.id]);
  t.equal((await world.get(stale)).statusReason, null);
});

t.test('signed versions are recorded all or none', async (t) => {
  const world = await EngineWorld.open(t);
  const ledger = world.ledger();
  const [first, second] = [await world.accept('a'), await world.accept('b')];
  await world.store.write((writer) => writer.updateTransaction(second.id, 'pending', { status: 'canceled' }));
  const versions = [first, second].map((transaction, index) => ({
    transaction,
    set: { status: 'sent', sequence: BigInt(index) } as const,
    attempt: attemptOf(transaction, BigInt(index)),
  }));

  t.notOk(await ledger.record(versions));
  t.equal((await world.get(first)).status, 'pending');
  t.strictSame(await world.store.read.attempts(first.id), []);

  t.ok(await ledger.record(versions.slice(0, 1)));
  t.equal((await world.get(first)).status, 'sent');
  t.equal((await world.store.read.attempts(first.id)).length, 1);
});

t.test('a fault of the store is not taken for a stale status', async (t) => {
  const world = await EngineWorld.open(t);
  const ledger = world.ledger();
  const [first, second] = [await world.accept('a'), await world.accept('b')];
  const set = { status: 'sent', sequence: 0n } as const;
  const attempt = attemptOf(first, 0n);
  const versions = [
    { transaction: first, set, attempt },
    { transaction: second, set, attempt: { ...attempt, transactionId: second.id } },
  ];
  await t.rejects(ledger.record(versions), 'the same hash twice');
  t.equal((await world.get(first)).status, 'pending');
});

t.test('a doubt is raised when a write fails or meets another state, and only then', async (t) => {
  const world = await EngineWorld.open(t);
  let doubts = 0;
  const onDoubt = () => void (doubts += 1);
  const answered = world.ledger(world.store, { onDoubt });
  const failing = { write: () => Promise.reject(new Error('no answer')) };
  const unanswered = world.ledger(failing, { onDoubt });
  const [one, other] = [await world.accept('one'), await world.accept('other')];
  const set = { status: 'sent', sequence: 0n } as const;
  const version = { transaction: one, set, attempt: attemptOf(one, 0n) };

  t.ok(await answered.record([version]));
  await answered.apply([{ transaction: other, set: { statusReason: 'waits' } }]);
  await answered.raise([]);
  await answered.refuse([{ position: 1, transactionId: one.id, refusal: 'no' }]);
  t.equal(doubts, 0);

  t.notOk(await answered.record([version]));
  t.equal(doubts, 1);
  await answered.apply([
    { transaction: one, set: {} },
    { transaction: other, set: {} },
  ]);
  t.equal(doubts, 2);
  await t.rejects(unanswered.record([version]));
  await t.rejects(unanswered.apply([{ transaction: other, set: {} }]));
  await t.rejects(unanswered.raise([]));
  await t.rejects(unanswered.refuse([{ position: 1, transactionId: one.id, refusal: 'no' }]));
  t.equal(doubts, 6);
});

t.test('a change of status and its event are one commit; other changes tell nothing', async (t) => {
  const world = await EngineWorld.open(t);
  await world.store.write((writer) => writer.putRelayer(relayerNamed('r1', { notificationId: 'hook-1' })));
  const ledger = world.ledger();
  const transaction = await world.accept('pay');
  const told = async () => {
    const events = await world.store.write((writer) => writer.claimEvents('hook-1', 100, 0));
    return events.map(({ body }) => JSON.parse(body).payload);
  };

  await ledger.apply([{ transaction, set: { statusReason: 'later' } }]);
  t.strictSame(await told(), []);
  const set = { status: 'sent', sequence: 0n, hash: 'h' } as const;
  t.ok(await ledger.record([{ transaction, set, attempt: attemptOf(transaction, 0n) }]));
  t.match(await told(), [{ payload_type: 'transaction', id: transaction.id, status: 'sent', hash: 'h', nonce: 0 }]);

  const stale = { transaction, set: { status: 'failed' } as const };
  await ledger.apply([stale]);
  t.notOk(await ledger.record([{ ...stale, attempt: { ...attemptOf(transaction, 1n), ordinal: 2, hash: 'other' } }]));
  t.equal((await told()).length, 1, 'what was not changed is not told');
  t.ok(world.hints > 0);
});

t.test('fields that a look finds once more are not written again', async (t) => {
  const world = await EngineWorld.open(t);
  const transaction = await world.accept('pay', { fields: { block: 7 }, hash: 'h' });
  const written: object[] = [];
  const store: Pick<Store, 'write'> = {
    write: (body) =>
      world.store.write((writer) => {
        const watched: StoreWriter = Object.create(writer);
        watched.updateTransaction = (...change) => (written.push(change[2]), writer.updateTransaction(...change));
        return body(watched);
      }),
  };
  const ledger = world.ledger(store);
  const at = (block: number) => ({ fields: { block }, nextActionAt: 5 });
  await ledger.apply([{ transaction, set: at(7) }]);
  await ledger.apply([{ transaction, set: at(8) }]);
  t.same(written, [{ nextActionAt: 5 }, at(8)]);
  t.strictSame((await world.get(transaction)).fields, { block: 8 });
});

async function withBudget(t: Test) {
  const world = await EngineWorld.open(t);
  const transaction = await world.accept('pay');
  await world.store.write((writer) =>
    writer.reserveSpending({
      transactionId: transaction.id,
      pluginId: 'p',
      relayerId: 'r1',
      value: 10n,
      fee: null,
      valueLimit: 10n,
      feeLimit: 5n,
    }),
  );
  return { world, transaction, spent: () => world.store.read.spentLastHour('p', 'r1') };
}

t.test('in the commit in which a transaction ends, what it reserved becomes what it took', async (t) => {
  const { world, transaction, spent } = await withBudget(t);
  const { ledger } = await world.step();
  await ledger.apply([{ transaction, set: { status: 'sent', sequence: 0n } }]);
  t.strictSame(await spent(), { value: 10n, fee: 0n });
  const sent = { ...transaction, status: 'sent' as const };
  await ledger.apply([{ transaction: sent, set: { status: 'failed' } }]);
  t.strictSame(await spent(), { value: 0n, fee: 0n });
});

t.test('a change that came too late settles nothing', async (t) => {
  const { world, transaction, spent } = await withBudget(t);
  const { ledger } = await world.step();
  await ledger.apply([{ transaction: { ...transaction, status: 'sent' }, set: { status: 'failed' } }]);
  t.strictSame(await spent(), { value: 10n, fee: 0n });
});

t.test('a fee that the budget lacks is refused with its figures, in the order asked', async (t) => {
  const { world, transaction, spent } = await withBudget(t);
  const { ledger } = await world.step();
  const ask = { transactionId: transaction.id, value: 10n, mayExceed: false };
  t.strictSame(
    await ledger.raise([
      { ...ask, fee: 3n },
      { ...ask, fee: 6n },
      { ...ask, fee: 4n },
    ]),
    [{ transactionId: transaction.id, reason: 'Plugin p has 2 left of fee_per_hour 5, and the fee can be 3 more' }],
  );
  t.strictSame(await spent(), { value: 10n, fee: 4n });
});

/** A store that returns this settled sequence and one open transaction for a lane, and records the calls. */
function storeOf(settled: bigint | null) {
  const asked: string[] = [];
  const entries = [{ transaction: pendingTransaction('pay', { id: 'one' }), attempts: [] }];
  return {
    asked,
    openTransactions: async (lane: string) => (asked.push(`open of ${lane}`), entries),
    settledSequence: async (lane: string) => (asked.push(`settled of ${lane}`), settled),
  };
}

t.test('the settled sequence rises with the transactions that end', async (t) => {
  const book = await OpenTransactions.read(storeOf(5n), 'lane');
  book.ended(9n);
  t.equal(await book.settled(), 5n, 'what ended before it was read is in the store');
  book.ended(4n);
  book.ended(null);
  t.equal(await book.settled(), 5n);
  book.ended(7n);
  t.equal(await book.settled(), 8n);
});

t.test('without a history the first end sets the settled sequence', async (t) => {
  const book = await OpenTransactions.read(storeOf(null), 'lane');
  t.equal(await book.settled(), null);
  book.ended(0n);
  t.equal(await book.settled(), 1n);
});
