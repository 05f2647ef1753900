import type { Test } from 'tap';
import type { WebhookEvent } from '../../../src/features/webhooks/records/webhook-event.ts';
import type { Store } from '../../../src/store/store.ts';
import { eventOf } from '../store.ts';

const insert = (store: Store, ...events: Partial<WebhookEvent>[]) =>
  store.write(async (writer) => {
    for (const event of events) await writer.insertEvent(eventOf(event));
  });

const claim = (store: Store, limit = 10, forMs = 60_000, notificationId = 'hook-1') =>
  store.write((writer) => writer.claimEvents(notificationId, limit, forMs));

const idsOf = (events: readonly WebhookEvent[]) => events.map(({ id }) => id);

async function claimOne(store: Store): Promise<WebhookEvent> {
  const [event, ...others] = await claim(store);
  if (event === undefined || others.length > 0) throw new Error(`${others.length + 1} events are due, not one`);
  return event;
}

/** Tests of webhook events for every store. */
export function outboxContract(t: Test, open: (t: Test) => Promise<Store>): void {
  t.test('an event comes back as it was put, byte for byte, and is due at once', async (t) => {
    const store = await open(t);
    const event = eventOf({ id: 'e1', body: '{"text":"ünïcode 🚀 \\u0000 \\"quoted\\"","big":123456789012345678901}' });
    const before = await store.now();
    await insert(store, event);
    t.strictSame(await store.read.dueNotifications((await store.now()) + 1), ['hook-1']);
    const { createdAt, dueSince, ...claimed } = await claimOne(store);
    t.strictSame(claimed, { ...event, tries: 1, triesSince: 1 });
    t.equal(dueSince, createdAt);
    t.ok(createdAt >= before && createdAt <= (await store.now()));
    await t.rejects(insert(store, event), { message: 'Table outbox already holds e1' });
  });

  t.test('of each subject only the earliest that has not ended is due', async (t) => {
    const store = await open(t);
    await insert(
      store,
      { id: 'a1', subject: 'a' },
      { id: 'a2', subject: 'a' },
      { id: 'b1', subject: 'b' },
      { id: 'a3', subject: 'a' },
      { id: 'other', subject: 'a', notificationId: 'hook-2' },
    );
    const first = await claim(store);
    t.strictSame(idsOf(first), ['a1', 'b1']);
    t.strictSame(idsOf(await claim(store)), [], 'what is under way is not due, and holds up what follows it');
    t.strictSame(idsOf(await claim(store, 10, 60_000, 'hook-2')), ['other'], 'each notification has its own order');
    for (const event of first) {
      await store.write((writer) => writer.settleEvent(event, { outcome: 'HTTP 200', end: 'delivered' }));
    }
    const second = await claimOne(store);
    t.equal(second.id, 'a2');
    await store.write((writer) => writer.settleEvent(second, { outcome: 'HTTP 500', end: 'dead' }));
    t.equal((await claimOne(store)).id, 'a3', 'also after one that could not be delivered');
    t.equal(await store.read.waitingEvents(), 2);
  });

  t.test('a failed one comes again after its pause, with those behind it', async (t) => {
    const store = await open(t);
    await insert(store, { id: 'a1' }, { id: 'a2' });
    const event = await claimOne(store);
    await store.write((writer) => writer.settleEvent(event, { outcome: 'HTTP 500', retryInMs: 60_000 }));
    const now = await store.now();
    t.strictSame(await store.read.dueNotifications(now + 1), []);
    const next = await store.read.nextEventAt(now);
    t.ok(next !== null && next > now + 50_000 && next <= now + 60_000);
    t.strictSame(await store.read.dueNotifications(now + 61_000), ['hook-1']);

    await insert(store, { id: 'b1', subject: 'b' }, { id: 'b2', subject: 'b' });
    const other = await claimOne(store);
    await store.write((writer) => writer.settleEvent(other, { outcome: 'HTTP 500', retryInMs: 0 }));
    t.match(await claimOne(store), { id: 'b1', tries: 2 });
  });

  t.test(
    'one that was begun and not settled is due again, and the late report of the first try changes nothing',
    async (t) => {
      const store = await open(t);
      await insert(store, { id: 'a1' });
      const [first] = await claim(store, 10, 0);
      const second = await claimOne(store);
      t.match([first, second], [{ tries: 1 }, { tries: 2 }]);
      const late = first as WebhookEvent;
      t.equal(await store.write((writer) => writer.settleEvent(late, { outcome: 'late', retryInMs: 0 })), false);
      t.strictSame(await claim(store), []);
      t.equal(await store.write((writer) => writer.settleEvent(second, { outcome: 'ok', end: 'delivered' })), true);
      t.equal(await store.write((writer) => writer.settleEvent(second, { outcome: 'ok', end: 'dead' })), false);
      t.equal(await store.read.waitingEvents(), 0);
    },
  );

  t.test('what was cut off by an end is due at once after the next start, a long pause is not cut short', async (t) => {
    const store = await open(t);
    await insert(store, { id: 'cut', subject: 'a' }, { id: 'pausing', subject: 'b' });
    const [, pausing] = await claim(store, 10, 15_000);
    await store.write(async (writer) => {
      if (pausing !== undefined) await writer.settleEvent(pausing, { outcome: 'HTTP 500', retryInMs: 60_000 });
      await writer.resumeEvents(15_000);
    });
    t.match(await claimOne(store), { id: 'cut', tries: 2 });
  });

  t.test('what was put off before the clock was set back by an hour is due, the longest pause is not', async (t) => {
    const store = await open(t);
    await insert(store, { id: 'a1', subject: 'a' }, { id: 'a2', subject: 'a' }, { id: 'b1', subject: 'b' });
    const [first, other] = await claim(store);
    if (first === undefined || other === undefined) throw new Error('two are due');
    // As far in the future as a short pause looks after the clock was set back by an hour.
    await store.write((writer) => writer.settleEvent(first, { outcome: 'HTTP 500', retryInMs: 3_602_000 }));
    await store.write((writer) => writer.settleEvent(other, { outcome: 'HTTP 500', retryInMs: 900_000 }));
    t.strictSame(await store.read.dueNotifications(await store.now()), ['hook-1']);
    const again = await claimOne(store);
    t.match(again, { id: 'a1', tries: 2 });
    await store.write((writer) => writer.settleEvent(again, { outcome: 'HTTP 200', end: 'delivered' }));
    t.match(await claimOne(store), { id: 'a2', tries: 1 }, 'and what is behind it');
    t.strictSame(await store.read.dueNotifications(await store.now()), []);
  });

  t.test('no more are begun than asked for, the longest due first', async (t) => {
    const store = await open(t);
    for (const id of ['1', '2', '3']) {
      await insert(store, { id, subject: id });
    }
    t.strictSame(idsOf(await claim(store, 2)), ['1', '2']);
    t.strictSame(idsOf(await claim(store, 2)), ['3']);
    t.equal(await store.read.nextEventAt((await store.now()) + 120_000), null);
  });

  t.test('notifications with due events are found, each once', async (t) => {
    const store = await open(t);
    await insert(store, ...['z', 'a', 'm'].flatMap((id) => [1, 2, 3].map(() => ({ notificationId: id }))));
    await claim(store, 10, 60_000, 'm');
    const due = await store.read.dueNotifications((await store.now()) + 1);
    t.ok(due.includes('a') && due.includes('z'));
    t.equal(new Set(due).size, due.length);
  });

  t.test(
    'pruning deletes what arrived or was dropped, the oldest first, and keeps what waits; the dead have a time of their own',
    async (t) => {
      const store = await open(t);
      const ids = ['1', '2', '3', 'dead', 'waits'];
      const at = (others: number) => ({ others, dead: 0 });
      await insert(store, ...ids.map((id) => ({ id, subject: id })));
      for (const event of await claim(store)) {
        if (event.id === 'waits') continue;
        const end = event.id === 'dead' ? 'dead' : event.id === '3' ? 'dropped' : 'delivered';
        await store.write((writer) => writer.settleEvent(event, { outcome: 'ended', end }));
      }
      t.equal(await store.write((writer) => writer.pruneOutbox(at(0), 10)), 0);
      const later = (await store.now()) + 1000;
      t.equal(await store.write((writer) => writer.pruneOutbox(at(later), 2)), 2);
      t.equal(await store.write((writer) => writer.pruneOutbox(at(later), 10)), 1);
      t.equal(await store.write((writer) => writer.pruneOutbox(at(later), 10)), 0);
      t.equal(await store.read.waitingEvents(), 1);
      t.match(await store.read.delivery('hook-1', 'dead'), { state: 'dead', outcome: 'ended' });
      t.equal(await store.write((writer) => writer.pruneOutbox({ others: 0, dead: later }, 10)), 1);
      t.equal(await store.read.delivery('hook-1', 'dead'), undefined);
    },
  );
}
