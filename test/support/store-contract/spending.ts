import type { Test } from 'tap';
import { HOUR_MS, type SpendingReservation } from '../../../src/features/plugins/records/spending.ts';
import type { Store } from '../../../src/store/store.ts';

const BIG = 10n ** 60n;

const reservation = (transactionId: string, more: Partial<SpendingReservation> = {}): SpendingReservation => ({
  transactionId,
  pluginId: 'p',
  relayerId: 'r',
  value: 1n,
  fee: null,
  valueLimit: null,
  feeLimit: null,
  ...more,
});

const reserve = (store: Store, transactionId: string, more: Partial<SpendingReservation> = {}) =>
  store.write((writer) => writer.reserveSpending(reservation(transactionId, more)));

const spent = (store: Store) => store.read.spentLastHour('p', 'r');

const settle = (store: Store, transactionId: string, value: bigint, fee: bigint) =>
  store.write((writer) => writer.settleSpending([{ transactionId, value, fee }]));

/** Tests of plugins' spending for every store. */
export function spendingContract(t: Test, open: (t: Test) => Promise<Store>): void {
  t.test('what is reserved counts, exactly, in its own budget only', async (t) => {
    const store = await open(t);
    t.strictSame(await spent(store), { value: 0n, fee: 0n });
    t.equal(await reserve(store, 'a', { value: BIG + 1n, fee: 7n, valueLimit: BIG + 1n }), undefined);
    t.equal(await reserve(store, 'b', { pluginId: 'p2', value: 5n }), undefined);
    t.equal(await reserve(store, 'c', { relayerId: 'r2', value: 6n }), undefined);
    t.strictSame(await spent(store), { value: BIG + 1n, fee: 7n });
    t.strictSame(await store.read.budgeted(['a', 'b', 'none']), new Set(['a', 'b']));
    t.strictSame(await store.read.budgeted([]), new Set());
  });

  t.test('nothing is reserved that a budget lacks', async (t) => {
    const store = await open(t);
    await reserve(store, 'a', { value: 7n, fee: 3n, valueLimit: 10n, feeLimit: 5n });
    const shortage = { rule: 'value_per_hour', asked: 4n, limit: 10n, remaining: 3n };
    t.strictSame(await reserve(store, 'b', { value: 4n, valueLimit: 10n }), shortage);
    t.match(await reserve(store, 'b', { value: 1n, fee: 3n, valueLimit: 10n, feeLimit: 5n }), { rule: 'fee_per_hour' });
    t.strictSame(await spent(store), { value: 7n, fee: 3n });
    t.strictSame(await store.read.budgeted(['b']), new Set());
  });

  t.test('an undone commit reserves nothing', async (t) => {
    const store = await open(t);
    const undone = store.write(async (writer) => {
      await writer.reserveSpending(reservation('a', { value: 5n }));
      throw new Error('no');
    });
    await t.rejects(undone, /no/);
    t.strictSame(await spent(store), { value: 0n, fee: 0n });
  });

  t.test('of many at once as many are reserved as the limit bears', async (t) => {
    const store = await open(t);
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) => reserve(store, `t${index}`, { value: 3n, valueLimit: 31n })),
    );
    t.equal(answers.filter((shortage) => shortage === undefined).length, 10);
    t.strictSame(await spent(store), { value: 30n, fee: 0n });
  });

  t.test('before a version is signed what it can cost is reserved, and never less than before', async (t) => {
    const store = await open(t);
    await reserve(store, 'a', { value: 5n, fee: 2n, feeLimit: 10n });
    const raise = (transactionId: string, value: bigint, fee: bigint, mayExceed = false) =>
      store.write((writer) => writer.raiseSpending({ transactionId, value, fee, mayExceed }));
    t.equal(await raise('none', 1n, 100n), undefined, 'what nobody counts');
    t.equal(await raise('a', 4n, 1n), undefined);
    t.strictSame(await spent(store), { value: 5n, fee: 2n });
    t.equal(await raise('a', 9n, 10n), undefined, 'another value is somebody else’s request, and counts');
    t.strictSame(await spent(store), { value: 9n, fee: 10n });
    const shortage = { rule: 'fee_per_hour', asked: 1n, limit: 10n, remaining: 0n, pluginId: 'p' };
    t.strictSame(await raise('a', 9n, 11n), shortage);
    t.equal(await raise('a', 0n, 12n, true), undefined);
    t.strictSame(await spent(store), { value: 9n, fee: 12n });
    t.match(await reserve(store, 'b', { feeLimit: 12n }), { rule: 'fee_per_hour', remaining: 0n });
    await reserve(store, 'c', { feeLimit: 20n });
    t.equal(await raise('c', 1n, 8n), undefined, 'the limit is the one of the latest request');
  });

  t.test('what has ended counts as what it took', async (t) => {
    const store = await open(t);
    const limits = { valueLimit: 10n, feeLimit: 10n };
    await reserve(store, 'a', { value: 10n, fee: 8n, ...limits });
    await settle(store, 'a', 4n, 3n);
    await settle(store, 'a', 0n, 0n);
    await settle(store, 'none', 1n, 1n);
    t.strictSame(await spent(store), { value: 4n, fee: 3n }, 'the first end is the end');
    t.equal(await reserve(store, 'b', { value: 6n, fee: 7n, ...limits }), undefined);
    t.strictSame(await spent(store), { value: 10n, fee: 10n });
    const freeAt = await store.read.freeFrom({ pluginId: 'p', relayerId: 'r' }, 'value', 4n);
    const left = (freeAt ?? 0) - (await store.now());
    t.ok(left > HOUR_MS - 60_000 && left <= HOUR_MS + 1, `${left}`);
    t.equal(await store.read.freeFrom({ pluginId: 'p', relayerId: 'r' }, 'fee', 4n), null, 'b is under way');
  });

  t.test('sums follow what has ended step by step', async (t) => {
    const store = await open(t);
    for (let index = 0; index < 5; index += 1) await reserve(store, `t${index}`, { value: 2n });
    for (let index = 0; index < 5; index += 1) await settle(store, `t${index}`, 1n, 0n);
    const fold = () => store.write((writer) => writer.foldSpending('p', 'r', 3));
    t.strictSame(await spent(store), { value: 5n, fee: 0n });
    t.strictSame([await fold(), await fold(), await fold()], [3, 2, 0]);
    t.strictSame(await spent(store), { value: 5n, fee: 0n });
    t.equal(await store.write((writer) => writer.foldSpending('none', 'r', 3)), 0);
  });
}
