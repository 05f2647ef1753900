import type { Test } from 'tap';
import type { WebhookEnd } from '../../../src/features/webhooks/records/webhook-event.ts';
import type { Store } from '../../../src/store/store.ts';
import { eventOf } from '../store.ts';

/** Stores events that have ended as given, or that wait. */
async function put(store: Store, ...events: { id: string; end?: WebhookEnd; relayerId?: string }[]): Promise<void> {
  for (const { id, end, relayerId } of events) {
    const event = eventOf({ id, subject: id, ...(relayerId !== undefined && { relayerId }) });
    await store.write((writer) => writer.insertEvent(event));
    if (end === undefined) continue;
    const claimed = await store.write((writer) => writer.claimEvents('hook-1', 1000, 60_000));
    for (const one of claimed.filter((other) => other.id === id)) {
      await store.write((writer) => writer.settleEvent(one, { outcome: `was ${end}`, end }));
    }
  }
}

/** Tests of deliveries for every store. */
export function deliveriesContract(t: Test, open: (t: Test) => Promise<Store>): void {
  t.test('deliveries are listed from the latest on, part by part, without gaps and repetitions', async (t) => {
    const store = await open(t);
    await put(store, ...['1', '2', '3', '4', '5'].map((id) => ({ id })));
    const seen: string[] = [];
    let before: number | null = null;
    for (let parts = 0; parts < 4; parts += 1) {
      const { items, next }: Awaited<ReturnType<Store['read']['deliveries']>> = await store.read.deliveries(
        'hook-1',
        { before, limit: 2 },
        {},
      );
      seen.push(...items.map(({ id }) => id));
      // Events that come later do not move the pages.
      await put(store, { id: `later ${parts}` });
      before = next;
      if (next === null) break;
    }
    t.strictSame(seen, ['5', '4', '3', '2', '1']);
    t.equal(before, null);
    t.strictSame(await store.read.deliveries('hook-1', { before: null, limit: 0 }, {}), { items: [], next: null });
    t.strictSame(await store.read.deliveries('hook-2', { before: null, limit: 9 }, {}), { items: [], next: null });
  });

  t.test('those of a state, and those of some relayers', async (t) => {
    const store = await open(t);
    await put(
      store,
      { id: 'a', end: 'delivered', relayerId: 'r1' },
      { id: 'b', end: 'dead', relayerId: 'r2' },
      { id: 'c', relayerId: 'r1' },
      { id: 'd', end: 'dropped' },
    );
    const ids = async (filter: Parameters<Store['read']['deliveries']>[2]) =>
      (await store.read.deliveries('hook-1', { before: null, limit: 9 }, filter)).items.map(({ id }) => id);
    t.strictSame(await ids({ state: 'delivered' }), ['a']);
    t.strictSame(await ids({ state: 'dead' }), ['b']);
    t.strictSame(await ids({ state: 'waiting' }), ['c']);
    t.strictSame(await ids({ state: 'dropped' }), ['d']);
    t.strictSame(await ids({ relayerIds: ['r1'] }), ['c', 'a']);
    t.strictSame(await ids({ relayerIds: ['r1', 'r2'], state: 'dead' }), ['b']);
    t.strictSame(await ids({ relayerIds: [] }), []);
    t.strictSame(await ids({ subject: 'a' }), ['a']);
    t.strictSame(await ids({ subject: 'c', state: 'waiting', relayerIds: ['r1'] }), ['c']);
    t.strictSame(await ids({ subject: 'c', relayerIds: ['r2'] }), []);
    const { body, createdAt, endedAt, position, ...dead } = (await store.read.delivery('hook-1', 'b')) ?? {};
    t.match({ body, createdAt, endedAt, position }, { body: String, createdAt: Number, endedAt: Number });
    t.strictSame(dead, {
      id: 'b',
      notificationId: 'hook-1',
      subject: 'b',
      relayerId: 'r2',
      event: 'transaction_update',
      tries: 1,
      state: 'dead',
      nextTryAt: null,
      outcome: 'was dead',
    });
    t.equal(await store.read.delivery('hook-2', 'b'), undefined, 'of another notification');
  });

  t.test(
    'one that has ended is due again, with its tries behind it; a late report of before changes nothing',
    async (t) => {
      const store = await open(t);
      await store.write((writer) => writer.insertEvent(eventOf({ id: 'a' })));
      const [first] = await store.write((writer) => writer.claimEvents('hook-1', 1, 0));
      const [second] = await store.write((writer) => writer.claimEvents('hook-1', 1, 60_000));
      if (first === undefined || second === undefined) throw new Error('it is due twice');
      await store.write((writer) => writer.settleEvent(second, { outcome: 'HTTP 200', end: 'delivered' }));
      await store.write((writer) => writer.redeliver('hook-2', 'a'));
      t.match(await store.read.delivery('hook-1', 'a'), { state: 'delivered' }, 'not that of another notification');
      await store.write((writer) => writer.redeliver('hook-1', 'a'));
      t.equal(await store.read.waitingEvents(), 1);
      const [again] = await store.write((writer) => writer.claimEvents('hook-1', 1, 60_000));
      t.match(again, { id: 'a', body: first.body, tries: 3, triesSince: 1 });
      t.ok(again !== undefined && again.dueSince >= first.dueSince);
      t.equal(await store.write((writer) => writer.settleEvent(first, { outcome: 'late', end: 'delivered' })), false);
    },
  );
}
