import type { Kysely } from 'kysely';
import type { ColumnTypes } from '../column-types.ts';
import type { Tables } from '../schema.ts';

/** Adds what instances that share a store say of themselves. */
export async function knowInstances(
  db: Kysely<Tables>,
  { text, integer, table, forgettable }: ColumnTypes,
): Promise<void> {
  // An embedded store has no rows here: there is one process.
  await db.schema
    .createTable('instances')
    .modifyFront(forgettable)
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('said_at', integer, (column) => column.notNull())
    .addColumn('unreached', text, (column) => column.notNull())
    .modifyEnd(table)
    .execute();
}
