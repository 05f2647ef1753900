import type { Test } from 'tap';
import type { Transaction } from '../../../src/features/transactions/records/transaction.ts';
import { isFinal, type TransactionStatus } from '../../../src/features/transactions/records/transaction-state.ts';
import type { Store } from '../../../src/store/store.ts';
import { attemptOf, transactionOf } from '../store.ts';

const PAGE = { page: 1, perPage: 100 };

/** A transaction with an attempt at the sequence, brought to the given status. */
async function signed(store: Store, sequence: bigint, status: TransactionStatus, lane = 'lane'): Promise<Transaction> {
  const transaction = transactionOf({ id: `${lane}-${sequence}`, lane });
  await store.write(async (writer) => {
    await writer.insertTransaction(transaction);
    await writer.insertAttempt(attemptOf(transaction, { sequence }));
    await writer.updateTransaction(transaction.id, 'pending', { status: 'sent', sequence });
    if (status !== 'sent') await writer.updateTransaction(transaction.id, 'sent', { status });
    if (isFinal(status)) await writer.settleSequence(lane, sequence);
  });
  return transaction;
}

/** Tests for every store of what it deletes and keeps of ended transactions. */
export function pruningContract(t: Test, open: (t: Test) => Promise<Store>): void {
  t.test('only what is final goes, with its attempts', async (t) => {
    const store = await open(t);
    const statuses: TransactionStatus[] = ['sent', 'confirmed', 'submitted', 'failed', 'mined', 'expired', 'canceled'];
    for (const [index, status] of statuses.entries()) await signed(store, BigInt(index), status);
    await store.write((writer) => writer.insertTransaction(transactionOf({ id: 'pending', lane: 'lane' })));

    const later = (await store.now()) + 1000;
    t.equal(await store.write((writer) => writer.pruneTransactions(later, 100)), 4);
    t.equal(await store.write((writer) => writer.pruneTransactions(later, 100)), 0);
    const { items } = await store.read.transactions('relayer-1', PAGE);
    t.strictSame(items.map(({ status }) => status).sort(), ['mined', 'pending', 'sent', 'submitted']);
    t.strictSame(await store.read.attempts('lane-1'), []);
    t.equal((await store.read.attempts('lane-0')).length, 1);
    t.equal((await store.read.openTransactions('lane')).length, 3);
  });

  t.test('with the intents and the decisions about it', async (t) => {
    const store = await open(t);
    for (const [sequence, status] of [
      [0n, 'confirmed'],
      [1n, 'sent'],
    ] as const)
      await signed(store, sequence, status);
    const positions: number[] = [];
    await store.write(async (writer) => {
      for (const transactionId of ['lane-0', 'lane-1']) {
        await writer.insertDecision(transactionId, { kind: 'bumped', text: 'why' });
        positions.push(await writer.insertIntent({ transactionId, lane: 'lane', action: { kind: 'cancel' } }));
      }
    });
    const later = (await store.now()) + 1000;
    t.equal(await store.write((writer) => writer.pruneTransactions(later, 100)), 1);
    const [gone = 0, kept = 0] = positions;
    t.strictSame(await store.read.decisions('lane-0', 10), []);
    t.strictSame(await store.read.intentRecords('lane-0', 10), []);
    t.equal(await store.read.intentOutcome(gone), undefined);
    t.equal((await store.read.decisions('lane-1', 10)).length, 1);
    t.equal(await store.read.intentOutcome(kept), 'waiting');
    t.strictSame((await store.read.dueLanes(0)).lanes, ['lane'], 'what waits still makes its lane due');
  });

  t.test('what became final lately stays, however old it is', async (t) => {
    const store = await open(t);
    const before = await store.now();
    await signed(store, 0n, 'confirmed');
    t.equal(await store.write((writer) => writer.pruneTransactions(before, 100)), 0);
    t.equal((await store.read.transactions('relayer-1', PAGE)).total, 1);
  });

  t.test('in batches', async (t) => {
    const store = await open(t);
    for (let sequence = 0n; sequence < 5n; sequence += 1n) await signed(store, sequence, 'confirmed');
    const later = (await store.now()) + 1000;
    const pruned = [];
    for (let round = 0; round < 4; round += 1) {
      pruned.push(await store.write((writer) => writer.pruneTransactions(later, 2)));
    }
    t.strictSame(pruned, [2, 2, 1, 0]);
  });

  t.test('a lane knows its sequence when all its attempts are gone', async (t) => {
    const store = await open(t);
    for (const sequence of [7n, 9n, 8n]) await signed(store, sequence, 'confirmed');
    await signed(store, 3n, 'confirmed', 'other');
    const settled = await store.read.settledSequence('lane');
    const later = (await store.now()) + 1000;
    // The highest limit first, then lower ones. The stored place does not go back.
    for (const limit of [2, 1, 1]) await store.write((writer) => writer.pruneTransactions(later, limit));
    t.equal((await store.read.transactions('relayer-1', PAGE)).total, 0);
    t.equal(await store.read.knownSequence('lane'), 10n);
    t.equal(await store.read.knownSequence('other'), 4n);
    t.same(await store.read.settledSequence('lane'), settled);
    t.equal(settled, 10n);
    t.equal(await store.read.settledSequence('nobody'), null);
    t.equal(await store.read.knownSequence('nobody'), null);
    await signed(store, 10n, 'sent');
    t.equal(await store.read.knownSequence('lane'), 11n);
  });
}
