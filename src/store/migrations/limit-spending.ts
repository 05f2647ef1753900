import { type Kysely, sql } from 'kysely';
import type { ColumnTypes } from '../column-types.ts';
import type { Tables } from '../schema.ts';

/** The step of the schema that brings the tables `budgets` and `spending`. Like every step it is never edited. */
export async function limitSpending(db: Kysely<Tables>, { text, integer, table }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('budgets')
    .addColumn('plugin_id', text, (column) => column.notNull())
    .addColumn('relayer_id', text, (column) => column.notNull())
    .addColumn('value', text, (column) => column.notNull())
    .addColumn('fee', text, (column) => column.notNull())
    .addColumn('fee_limit', text)
    .addPrimaryKeyConstraint('budgets_pk', ['plugin_id', 'relayer_id'])
    .modifyEnd(table)
    .execute();

  await db.schema
    .createTable('spending')
    .addColumn('transaction_id', text, (column) => column.primaryKey().notNull())
    .addColumn('plugin_id', text, (column) => column.notNull())
    .addColumn('relayer_id', text, (column) => column.notNull())
    .addColumn('value', text, (column) => column.notNull())
    .addColumn('fee', text, (column) => column.notNull())
    .addColumn('spent_value', text)
    .addColumn('spent_fee', text)
    .addColumn('settled_at', integer)
    .modifyEnd(table)
    .execute();
  await db.schema
    .createIndex('spending_settled')
    .on('spending')
    .columns(['plugin_id', 'relayer_id', 'settled_at'])
    .where(sql.ref('settled_at'), 'is not', null)
    .execute();
  await db.schema
    .createIndex('spending_unfolded')
    .on('spending')
    .columns(['plugin_id', 'relayer_id', 'transaction_id'])
    .where(sql.ref('spent_value'), 'is not', null)
    .execute();
}
