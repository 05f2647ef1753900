import { type Kysely, sql } from 'kysely';
import type { ColumnTypes } from '../column-types.ts';
import type { Tables } from '../schema.ts';

/** Deliveries that can be listed and repeated, and a second signing key. */
export async function webhookDeliveries(db: Kysely<Tables>, { text, integer }: ColumnTypes): Promise<void> {
  await sql`alter table notifications add column second_signing_key ${text}`.execute(db);
  await sql`alter table outbox add column relayer_id ${text}`.execute(db);
  await sql`alter table outbox add column due_since ${integer}`.execute(db);
  await sql`alter table outbox add column tries_before ${integer} not null default 0`.execute(db);
  await sql`create index outbox_of_notification on outbox (notification_id, position)`.execute(db);
  await sql`create index outbox_dead on outbox (notification_id, position) where ending = 'dead'`.execute(db);
}
