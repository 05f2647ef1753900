import type { Kysely } from 'kysely';
import type { ColumnTypes } from '../column-types.ts';
import type { Tables } from '../schema.ts';

/** Adds the keys of requests that are repeated, with their effects. */
export async function rememberAnswers(db: Kysely<Tables>, { text, integer, table }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('idempotency_keys')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('scope', text, (column) => column.notNull())
    .addColumn('key', text, (column) => column.notNull())
    .addColumn('fingerprint', text, (column) => column.notNull())
    .addColumn('state', text, (column) => column.notNull())
    .addColumn('owner', text, (column) => column.notNull())
    .addColumn('token', integer, (column) => column.notNull())
    .addColumn('expires_at', integer, (column) => column.notNull())
    .addColumn('has_effects', integer, (column) => column.notNull())
    .addColumn('created_at', integer, (column) => column.notNull())
    .addColumn('status', integer)
    .addColumn('body', text)
    .addUniqueConstraint('idempotency_keys_of_scope', ['scope', 'key'])
    .modifyEnd(table)
    .execute();
  await db.schema.createIndex('idempotency_keys_by_age').on('idempotency_keys').column('created_at').execute();

  await db.schema
    .createTable('effects')
    .addColumn('claim_id', text, (column) => column.notNull().references('idempotency_keys.id'))
    .addColumn('ordinal', integer, (column) => column.notNull())
    .addColumn('payload_hash', text, (column) => column.notNull())
    .addColumn('transaction_id', text)
    .addColumn('outcome', text)
    .addPrimaryKeyConstraint('effects_pk', ['claim_id', 'ordinal'])
    .modifyEnd(table)
    .execute();
}
