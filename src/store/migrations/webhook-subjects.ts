import { type Kysely, sql } from 'kysely';
import type { Tables } from '../schema.ts';

/** Whether somebody was told of one transaction is found at once, however many events there are. */
export async function webhookSubjects(db: Kysely<Tables>): Promise<void> {
  await sql`create index outbox_of_subject on outbox (notification_id, subject, position)`.execute(db);
}
