import t from 'tap';
import { webhookDeliveries } from '../../../../../src/store/migrations/webhook-deliveries.ts';
import { beforeStep } from '../../../../support/migration-stage.ts';

t.test('events of before are listed, and their tries count from the moment at which they happened', async (t) => {
  const { database, read, take } = await beforeStep(t, webhookDeliveries);
  database.exec(`insert into outbox (id, notification_id, subject, event, body, created_at, tries, next_try_at)
    values ('e', 'n', 's', 'transaction_update', '{}', 7, 3, 9)`);
  t.strictSame(await take(), []);
  t.match(await read.delivery('n', 'e'), { relayerId: null, createdAt: 7, tries: 3, state: 'waiting', nextTryAt: 9 });
  t.match(database.prepare('select due_since, tries_before from outbox').get(), { due_since: null, tries_before: 0 });
});
