import { setImmediate as turn } from 'node:timers/promises';
import type { Test } from 'tap';
import type { TransactionChange } from '../../../src/features/transactions/records/transaction.ts';
import { type EventPlace, FIRST_PLACE } from '../../../src/features/transactions/records/transaction-event.ts';
import type { Store } from '../../../src/store/store.ts';
import { transactionOf } from '../store.ts';

/** The text of each event, from a place on. */
async function told(store: Store, after: EventPlace, limit = 100): Promise<string[]> {
  const events = await store.read.transactionEvents(after, limit);
  return events.map(({ transactionId, status, hash }) => `${transactionId} ${status} ${hash ?? '-'}`);
}

/** Waits until every write that began earlier has ended, including writes of other databases on the same server. */
async function settled(store: Store, transactionId: string): Promise<EventPlace> {
  for (let at = FIRST_PLACE; ; await turn()) {
    const events = await store.read.transactionEvents(at, 1);
    at = events.at(-1) ?? at;
    if (events.some((event) => event.transactionId === transactionId)) return at;
  }
}

/** Tests of the events of transactions for every store. */
export function transactionEventsContract(t: Test, open: (t: Test) => Promise<Store>): void {
  const accept = (store: Store, ...ids: string[]) =>
    store.write(async (writer) => {
      for (const id of ids) await writer.insertTransaction(transactionOf({ id }));
    });
  const pending = (store: Store, id: string, change: TransactionChange) =>
    store.write((writer) => writer.updateTransaction(id, 'pending', change));

  t.test('acceptance and each change that matters is told, in order, with how it stood then', async (t) => {
    const store = await open(t);
    t.strictSame(await store.read.latestTransactionEvent(), FIRST_PLACE);
    const before = await store.now();
    await accept(store, 'a', 'b');
    await pending(store, 'a', { nextActionAt: 5 });
    await pending(store, 'a', { statusReason: 'waits' });
    await pending(store, 'a', { status: 'sent', hash: '0x1' });
    await store.write((writer) => writer.updateTransaction('a', 'sent', { noopEnd: 'canceled' }));
    await store.write((writer) => writer.updateTransaction('a', 'pending', { status: 'failed' }));
    await accept(store, 'last');
    const end = await settled(store, 'last');
    const all = ['a pending -', 'b pending -', 'a sent 0x1', 'a sent 0x1', 'last pending -'];
    t.strictSame(await told(store, FIRST_PLACE), all);
    t.strictSame(await told(store, FIRST_PLACE, 1), all.slice(0, 1));
    const [first] = await store.read.transactionEvents(FIRST_PLACE, 1);
    t.match(first, { relayerId: 'relayer-1', statusReason: null });
    t.ok(first !== undefined && first.at >= before && first.at <= (await store.now()));
    t.strictSame(await told(store, first ?? FIRST_PLACE), all.slice(1));
    t.match(end, await store.read.latestTransactionEvent());
    t.strictSame(await told(store, end), []);
  });

  t.test('what is undone is never told', async (t) => {
    const store = await open(t);
    const undone = store.write(async (writer) => {
      await writer.insertTransaction(transactionOf({ id: 'a' }));
      throw new Error('no');
    });
    await t.rejects(undone, { message: 'no' });
    await accept(store, 'b');
    await settled(store, 'b');
    t.strictSame(await told(store, FIRST_PLACE), ['b pending -']);
  });

  t.test('writes that overlap leave nobody behind who follows', async (t) => {
    const store = await open(t);
    const ids = Array.from({ length: 120 }, (_, index) => `t${index}`);
    const seen: string[] = [];
    const follow = async () => {
      for (let at = FIRST_PLACE; seen.length < ids.length + 1; await turn()) {
        const events = await store.read.transactionEvents(at, 7);
        seen.push(...events.map(({ transactionId }) => transactionId));
        at = events.at(-1) ?? at;
      }
    };
    const following = follow();
    await Promise.all(ids.map((id) => accept(store, id)));
    await accept(store, 'last');
    await following;
    t.equal(seen.pop(), 'last');
    t.strictSame(seen.toSorted(), ids.toSorted(), 'each once');
  });

  t.test('old ones go, but for the latest; who comes back is told whether something is missing', async (t) => {
    const store = await open(t);
    await accept(store, 'a');
    const place = await settled(store, 'a');
    t.ok(await store.read.isKeptTransactionEvent(FIRST_PLACE));
    t.ok(await store.read.isKeptTransactionEvent(place));
    t.notOk(await store.read.isKeptTransactionEvent({ ...place, position: place.position + 1 }));
    t.notOk(await store.read.isKeptTransactionEvent({ ...place, written: place.written + 1 }));
    await accept(store, 'b', 'c', 'd');
    const latest = await settled(store, 'd');
    t.equal(await store.write((writer) => writer.pruneTransactionEvents(0, 10)), 0);
    const later = (await store.now()) + 1_000;
    const prune = () => store.write((writer) => writer.pruneTransactionEvents(later, 2));
    t.strictSame([await prune(), await prune(), await prune()], [2, 1, 0]);
    t.notOk(await store.read.isKeptTransactionEvent(place));
    t.notOk(await store.read.isKeptTransactionEvent(FIRST_PLACE));
    t.ok(await store.read.isKeptTransactionEvent(latest));
    await accept(store, 'e');
    while ((await told(store, latest)).length === 0) await turn();
    t.strictSame(await told(store, latest), ['e pending -']);
  });
}
