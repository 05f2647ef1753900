import t from 'tap';
import { webhookSubjects } from '../../../../../src/store/migrations/webhook-subjects.ts';
import { beforeStep } from '../../../../support/migration-stage.ts';

t.test('the events of a subject are found among any number of others', async (t) => {
  const { database, read, take } = await beforeStep(t, webhookSubjects);
  database.exec(`insert into outbox (id, notification_id, subject, event, body, created_at, tries, next_try_at)
    values ('e', 'n', 's', 'transaction_update', '{}', 7, 3, 9), ('f', 'n', 'other', 'transaction_update', '{}', 7, 3, 9)`);
  t.strictSame(await take(), []);
  t.match((await read.deliveries('n', { before: null, limit: 9 }, { subject: 's' })).items, [{ id: 'e' }]);
  const query = `select position from outbox where notification_id = 'n' and subject = 's' and position < 9`;
  const plan = database.prepare(`explain query plan ${query} order by position desc limit 1`).all();
  t.match(plan, [{ detail: /outbox_of_subject \(notification_id=\? AND subject=\? AND position<\?\)/ }]);
});
