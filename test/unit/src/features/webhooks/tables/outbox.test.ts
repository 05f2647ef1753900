import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import { eventOf, storeFor, temporaryStore } from '../../../../../support/store.ts';
import { meterThread } from '../../../../../support/thread-time.ts';

t.test('what runs often finds its rows by an index', async (t) => {
  const { store, path, remove } = await temporaryStore();
  t.teardown(remove);
  await store.write((writer) => writer.insertEvent(eventOf()));
  const database = new DatabaseSync(path, { readOnly: true });
  t.teardown(() => database.close());
  const planOf = (query: string) =>
    database
      .prepare(`explain query plan ${query}`)
      .all()
      .map(({ detail }) => String(detail))
      .join('; ');
  const table = 'from outbox where';
  for (const [query, index] of [
    [
      `select min(notification_id) ${table} ended_at is null and notification_id > 'x'`,
      'outbox_due (notification_id>?)',
    ],
    [
      `select 1 ${table} notification_id = 'x' and next_try_at <= 5 and ended_at is null`,
      'outbox_due (notification_id=? AND next_try_at<?)',
    ],
    [
      `select 1 ${table} notification_id = 'x' and next_try_at > 5 and ended_at is null`,
      'outbox_due (notification_id=? AND next_try_at>?)',
    ],
    [`select min(next_try_at) ${table} next_try_at > 5 and ended_at is null`, 'outbox_by_time (next_try_at>?)'],
    [
      `select 1 ${table} notification_id = 'x' and subject = 's' and position < 7 and ended_at is null`,
      'outbox_by_subject (notification_id=? AND subject=? AND position<?)',
    ],
    [
      `select position ${table} ending = 'delivered' and ended_at < 5 order by ended_at limit 9`,
      'outbox_ended (ending=? AND ended_at<?)',
    ],
  ] as const) {
    t.ok(planOf(query).includes(index), `${query}: ${planOf(query)}`);
  }
});

t.test('a backlog of one notification makes nothing slow', async (t) => {
  const store = await storeFor(t);
  for (let batch = 0; batch < 20; batch += 1) {
    await store.write(async (writer) => {
      for (let index = 0; index < 1000; index += 1) {
        const subject = `transaction:${batch}:${index % 250}`;
        await writer.insertEvent(eventOf({ notificationId: 'stuck', subject }));
      }
    });
  }
  await store.write((writer) => writer.insertEvent(eventOf({ notificationId: 'well' })));
  const now = (await store.now()) + 1;
  const spent = meterThread();
  t.strictSame((await store.read.dueNotifications(now)).toSorted(), ['stuck', 'well']);
  const claimed = await store.write((writer) => writer.claimEvents('stuck', 8, 60_000));
  t.equal(new Set(claimed.map(({ subject }) => subject)).size, 8);
  for (const event of claimed) {
    await store.write((writer) => writer.settleEvent(event, { outcome: 'HTTP 500', retryInMs: 60_000 }));
  }
  t.ok(spent() < 2_000, `${spent()} ms`);
});

t.test('no look is longer than its bound, whatever a notification has behind it', async (t) => {
  const { store, path, remove } = await temporaryStore();
  t.teardown(remove);
  await store.write(async (writer) => {
    for (let index = 0; index < 2_500; index += 1) {
      const relayerId = index === 3 ? 'rare' : 'busy';
      await writer.insertEvent(eventOf({ id: String(index), subject: String(index), relayerId }));
    }
  });
  const parts = [];
  let before: number | null = null;
  do {
    const part: Awaited<ReturnType<typeof store.read.deliveries>> = await store.read.deliveries(
      'hook-1',
      { before, limit: 10 },
      { relayerIds: ['rare'] },
    );
    parts.push(part.items.map(({ id }) => id));
    before = part.next;
  } while (before !== null);
  t.strictSame(parts, [[], [], ['3']], 'each passes over a thousand');

  const database = new DatabaseSync(path, { readOnly: true });
  t.teardown(() => database.close());
  for (const [rest, index] of [
    ['', 'outbox_of_notification (notification_id=? AND position<?)'],
    ["and ending = 'dead'", 'outbox_dead (notification_id=? AND position<?)'],
  ]) {
    const query = `select position from outbox where notification_id = 'x' and position < 9 ${rest} order by position desc`;
    const plan = database.prepare(`explain query plan ${query} limit 1 offset 999`).all();
    t.match(
      plan.map(({ detail }) => detail),
      [new RegExp(`USING.*INDEX ${String(index).replace(/[?()]/g, '\\$&')}`)],
      query,
    );
  }
});
