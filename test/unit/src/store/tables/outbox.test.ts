import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import { eventOf, storeFor, temporaryStore } from '../../../../support/store.ts';
import { outboxContract } from '../../../../support/store-contract/outbox.ts';
import { meterThread } from '../../../../support/thread-time.ts';

outboxContract(t, storeFor);

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
