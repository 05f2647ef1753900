import { type Kysely, sql } from 'kysely';
import type { ColumnTypes } from '../column-types.ts';
import type { Tables } from '../schema.ts';

/** Adds wishes and decisions, and keeps with each signed version what it does. */
export async function replaceAndCancel(
  db: Kysely<Tables>,
  { text, integer, rising, table }: ColumnTypes,
): Promise<void> {
  await db.schema
    .alterTable('attempts')
    .addColumn('purpose', text, (column) => column.notNull().defaultTo('send'))
    .execute();
  for (const name of ['request', 'fields'] as const) {
    await db.schema
      .alterTable('attempts')
      .addColumn(name, text, (column) => column.notNull().defaultTo('{}'))
      .execute();
    await db
      .updateTable('attempts')
      .set((on) => ({
        [name]: on
          .selectFrom('transactions')
          .select(name)
          .whereRef('transactions.id', '=', 'attempts.transaction_id')
          .$asScalar(),
      }))
      .execute();
  }

  await db.schema.alterTable('transactions').addColumn('void_as', text).execute();
  await db.schema
    .createIndex('transactions_by_sequence')
    .on('transactions')
    .columns(['relayer_id', 'sequence'])
    .where(sql.ref('sequence'), 'is not', null)
    .execute();

  await db.schema
    .createTable('intents')
    .addColumn('position', rising, (column) => column.primaryKey().notNull())
    .addColumn('transaction_id', text, (column) => column.notNull())
    .addColumn('lane', text, (column) => column.notNull())
    .addColumn('wish', text, (column) => column.notNull())
    .addColumn('created_at', integer, (column) => column.notNull())
    .addColumn('settled_at', integer)
    .addColumn('refusal', text)
    .modifyEnd(table)
    .execute();
  await db.schema
    .createIndex('intents_waiting')
    .on('intents')
    .columns(['lane', 'position'])
    .where(sql.ref('settled_at'), 'is', null)
    .execute();
  await db.schema.createIndex('intents_of_transaction').on('intents').column('transaction_id').execute();

  await db.schema
    .createTable('decisions')
    .addColumn('position', rising, (column) => column.primaryKey().notNull())
    .addColumn('transaction_id', text, (column) => column.notNull())
    .addColumn('at', integer, (column) => column.notNull())
    .addColumn('kind', text, (column) => column.notNull())
    .addColumn('text', text, (column) => column.notNull())
    .modifyEnd(table)
    .execute();
  await db.schema
    .createIndex('decisions_of_transaction')
    .on('decisions')
    .columns(['transaction_id', 'position'])
    .execute();
}
