import type { Kysely } from 'kysely';
import type { ColumnTypes } from '../column-types.ts';
import type { Tables } from '../schema.ts';

/** Adds the buckets that count requests over all instances. */
export async function countRequests(
  db: Kysely<Tables>,
  { text, integer, table, forgettable }: ColumnTypes,
): Promise<void> {
  // An embedded store has no rows here either.
  await db.schema
    .createTable('rate_buckets')
    .modifyFront(forgettable)
    .addColumn('subject', text, (column) => column.primaryKey().notNull())
    .addColumn('full_at', integer, (column) => column.notNull())
    .modifyEnd(table)
    .execute();
}
