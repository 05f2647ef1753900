import { type Kysely, sql } from 'kysely';
import type { ColumnTypes } from '../column-types.ts';
import type { Tables } from '../schema.ts';

/** The first tables: relayers, their transactions with every signed version, and plugins' values. */
export async function relayAndKeep(db: Kysely<Tables>, { text, integer, rising, table }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('meta')
    .addColumn('key', text, (column) => column.primaryKey().notNull())
    .addColumn('value', text, (column) => column.notNull())
    .modifyEnd(table)
    .execute();

  await db.schema
    .createTable('chain_identities')
    .addColumn('network_type', text, (column) => column.notNull())
    .addColumn('network', text, (column) => column.notNull())
    .addColumn('identity', text, (column) => column.notNull())
    .addPrimaryKeyConstraint('chain_identities_pk', ['network_type', 'network'])
    .modifyEnd(table)
    .execute();

  await db.schema
    .createTable('relayers')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('created_at', integer, (column) => column.notNull())
    .addColumn('name', text, (column) => column.notNull())
    .addColumn('network', text, (column) => column.notNull())
    .addColumn('network_type', text, (column) => column.notNull())
    .addColumn('address', text, (column) => column.notNull())
    .addColumn('paused', integer, (column) => column.notNull())
    .addColumn('disabled_reason', text)
    .addColumn('signer_id', text, (column) => column.notNull())
    .addColumn('notification_id', text)
    .addColumn('custom_rpc_urls', text)
    .addColumn('policies', text, (column) => column.notNull())
    .addColumn('declaration', text)
    .modifyEnd(table)
    .execute();

  await db.schema
    .createTable('transactions')
    .addColumn('accepted', rising, (column) => column.primaryKey())
    .addColumn('id', text, (column) => column.notNull().unique())
    .addColumn('relayer_id', text, (column) => column.notNull())
    .addColumn('network_type', text, (column) => column.notNull())
    .addColumn('lane', text, (column) => column.notNull())
    .addColumn('status', text, (column) => column.notNull())
    .addColumn('status_reason', text)
    .addColumn('created_at', integer, (column) => column.notNull())
    .addColumn('sent_at', integer)
    .addColumn('confirmed_at', integer)
    .addColumn('valid_until', integer)
    .addColumn('request', text, (column) => column.notNull())
    .addColumn('fields', text, (column) => column.notNull())
    .addColumn('sequence', text)
    .addColumn('hash', text)
    .addColumn('is_canceled', integer, (column) => column.notNull())
    .addColumn('next_action_at', integer)
    .modifyEnd(table)
    .execute();
  // What is due holds only what is open, so these two stay small whatever becomes history.
  await db.schema
    .createIndex('transactions_due')
    .on('transactions')
    .column('next_action_at')
    .where(sql.ref('next_action_at'), 'is not', null)
    .execute();
  await db.schema
    .createIndex('transactions_due_in_lane')
    .on('transactions')
    .columns(['lane', 'accepted', 'next_action_at'])
    .where(sql.ref('next_action_at'), 'is not', null)
    .execute();
  await db.schema
    .createIndex('transactions_by_lane_and_status')
    .on('transactions')
    .columns(['lane', 'status'])
    .execute();
  await db.schema
    .createIndex('transactions_by_relayer')
    .on('transactions')
    .columns(['relayer_id', 'created_at', 'id'])
    .execute();
  await db.schema
    .createIndex('transactions_by_relayer_and_status')
    .on('transactions')
    .columns(['relayer_id', 'status', 'is_canceled', 'created_at', 'id'])
    .execute();
  await db.schema
    .createIndex('transactions_confirmed')
    .on('transactions')
    .columns(['relayer_id', 'confirmed_at'])
    .where(sql.ref('confirmed_at'), 'is not', null)
    .execute();

  await db.schema
    .createTable('attempts')
    .addColumn('transaction_id', text, (column) => column.notNull().references('transactions.id'))
    .addColumn('ordinal', integer, (column) => column.notNull())
    .addColumn('lane', text, (column) => column.notNull())
    .addColumn('sequence', text, (column) => column.notNull())
    .addColumn('raw', text, (column) => column.notNull())
    .addColumn('hash', text, (column) => column.notNull())
    .addColumn('created_at', integer, (column) => column.notNull())
    .addColumn('accepted_at', integer)
    .addPrimaryKeyConstraint('attempts_pk', ['transaction_id', 'ordinal'])
    .addUniqueConstraint('attempts_lane_hash', ['lane', 'hash'])
    .modifyEnd(table)
    .execute();
  await db.schema.createIndex('attempts_by_lane').on('attempts').columns(['lane', 'sequence']).execute();

  await db.schema
    .createTable('plugin_kv')
    .addColumn('plugin_id', text, (column) => column.notNull())
    .addColumn('key', text, (column) => column.notNull())
    .addColumn('value', text, (column) => column.notNull())
    .addColumn('expires_at', integer)
    .addPrimaryKeyConstraint('plugin_kv_pk', ['plugin_id', 'key'])
    .modifyEnd(table)
    .execute();
  await db.schema
    .createIndex('plugin_kv_expiry')
    .on('plugin_kv')
    .column('expires_at')
    .where(sql.ref('expires_at'), 'is not', null)
    .execute();
}
