import { type Kysely, sql } from 'kysely';
import type { ColumnTypes } from '../column-types.ts';
import type { Tables } from '../schema.ts';

/** Adds leases for instances that share a store, and what is needed to delete what has ended. */
export async function shareAndPrune(db: Kysely<Tables>, { text, integer, table }: ColumnTypes): Promise<void> {
  // An embedded store has no rows here: one process has all leases.
  await db.schema
    .createTable('leases')
    .addColumn('name', text, (column) => column.primaryKey().notNull())
    .addColumn('owner', text, (column) => column.notNull())
    .addColumn('token', integer, (column) => column.notNull())
    .addColumn('expires_at', integer, (column) => column.notNull())
    .modifyEnd(table)
    .execute();

  await db.schema
    .createTable('lane_sequences')
    .addColumn('lane', text, (column) => column.primaryKey().notNull())
    .addColumn('sequence', text, (column) => column.notNull())
    .modifyEnd(table)
    .execute();

  await db.schema.alterTable('transactions').addColumn('ended_at', integer).execute();
  await db
    .updateTable('transactions')
    .set((on) => ({ ended_at: on.fn.coalesce('confirmed_at', 'created_at') }))
    .where('status', 'in', ['confirmed', 'failed', 'canceled', 'expired'])
    .execute();
  await db.schema
    .createIndex('transactions_ended')
    .on('transactions')
    .column('ended_at')
    .where(sql.ref('ended_at'), 'is not', null)
    .execute();
}
