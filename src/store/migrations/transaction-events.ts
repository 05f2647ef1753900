import { type Kysely, sql } from 'kysely';
import type { ColumnTypes } from '../column-types.ts';
import type { Tables } from '../schema.ts';

/** What became of transactions, in an order in which it can be told. */
export async function transactionEvents(
  db: Kysely<Tables>,
  { text, integer, rising, ofWrite, table }: ColumnTypes,
): Promise<void> {
  await sql`create table transaction_events (
    position ${rising} primary key, written ${ofWrite}, at ${integer} not null, transaction_id ${text} not null,
    relayer_id ${text} not null, status ${text} not null, status_reason ${text}, hash ${text}
  ) ${table}`.execute(db);
  await sql`create index transaction_events_in_order on transaction_events (written, position)`.execute(db);
}
