import type { Test } from 'tap';
import type { TransactionStatus } from '../../../src/features/transactions/records/transaction-state.ts';
import type { Store } from '../../../src/store/store.ts';
import { transactionOf } from '../store.ts';

/** Tests of lanes for every store. */
export function lanesContract(t: Test, open: (t: Test) => Promise<Store>): void {
  t.test('what a lane has settled only rises', async (t) => {
    const store = await open(t);
    t.equal(await store.read.settledSequence('one'), null);
    for (const [sequence, settled] of [
      [0n, 1n],
      [9n, 10n],
      [3n, 10n],
      [2n ** 53n + 1n, 2n ** 53n + 2n],
      [2n ** 53n, 2n ** 53n + 2n],
      [2n ** 64n - 1n, 2n ** 64n],
    ] as const) {
      await store.write((writer) => writer.settleSequence('one', sequence));
      t.equal(await store.read.settledSequence('one'), settled);
    }
    t.equal(await store.read.settledSequence('two'), null);
  });

  t.test('what is open counts as known, what has ended only where it was settled', async (t) => {
    const store = await open(t);
    const known = () => store.read.knownSequence('one');
    const insert = (sequence: bigint | null, status: TransactionStatus, lane = 'one') =>
      store.write((writer) => writer.insertTransaction(transactionOf({ lane, sequence, status })));
    t.equal(await known(), null);
    for (const status of ['failed', 'confirmed', 'canceled', 'expired'] as const) await insert(10n ** 18n, status);
    await insert(null, 'submitted');
    await insert(7n, 'sent', 'two');
    t.equal(await known(), null);
    for (const [sequence, status, next] of [
      [2n, 'sent', 3n],
      [10n ** 17n, 'mined', 10n ** 17n + 1n],
      [11n, 'submitted', 10n ** 17n + 1n],
    ] as const) {
      await insert(sequence, status);
      t.equal(await known(), next);
    }
    await store.write((writer) => writer.settleSequence('one', 9n));
    t.equal(await known(), 10n ** 17n + 1n);
    await store.write((writer) => writer.settleSequence('one', 10n ** 19n));
    t.equal(await known(), 10n ** 19n + 1n);
  });
}
