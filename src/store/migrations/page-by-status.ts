import type { Kysely } from 'kysely';
import type { ColumnTypes } from '../column-types.ts';
import type { Tables } from '../schema.ts';

/**
 * Has a relayer's transactions of a status by their time: before, they were by whether they are canceled first, and
 * each page of a long list sorted all of it.
 */
export async function pageByStatus(db: Kysely<Tables>, _types: ColumnTypes): Promise<void> {
  await db.schema.dropIndex('transactions_by_relayer_and_status').execute();
  await db.schema
    .createIndex('transactions_by_relayer_and_status')
    .on('transactions')
    .columns(['relayer_id', 'status', 'created_at', 'id', 'is_canceled'])
    .execute();
}
