import { type Kysely, sql } from 'kysely';
import { FINAL_STATUSES } from '../domain/transaction-state.ts';
import type { ColumnTypes } from './column-types.ts';
import type { Tables } from './schema.ts';
import { dateSettlements } from './settled-column.ts';
import { limitSpending } from './spending-tables.ts';
import { nameTakers } from './taker-column.ts';

/** One step of the schema. Once released it is never edited: what has to change is the next step. */
export interface Migration {
  name: string;
  up(db: Kysely<Tables>, types: ColumnTypes): Promise<void>;
}

/** All steps; the version of a database is the number of those that it has taken. */
export const migrations: readonly Migration[] = [
  { name: 'relay transactions and keep values', up: relayAndKeep },
  { name: 'notify', up: notify },
  { name: 'share and prune', up: shareAndPrune },
  { name: 'count requests', up: countRequests },
  { name: 'replace and cancel', up: replaceAndCancel },
  { name: 'remember answers', up: rememberAnswers },
  { name: 'limit spending', up: limitSpending },
  { name: 'lock and bound values', up: lockAndBoundValues },
  { name: 'name takers', up: nameTakers },
  { name: 'date settlements', up: dateSettlements },
];

async function relayAndKeep(db: Kysely<Tables>, { text, integer, rising, table }: ColumnTypes): Promise<void> {
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

async function notify(db: Kysely<Tables>, { text, integer, rising, table }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('notifications')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('created_at', integer, (column) => column.notNull())
    .addColumn('type', text, (column) => column.notNull())
    .addColumn('url', text, (column) => column.notNull())
    .addColumn('signing_key', text)
    .addColumn('declaration', text)
    .modifyEnd(table)
    .execute();

  await db.schema
    .createTable('outbox')
    .addColumn('position', rising, (column) => column.primaryKey())
    .addColumn('id', text, (column) => column.notNull().unique())
    .addColumn('notification_id', text, (column) => column.notNull())
    .addColumn('subject', text, (column) => column.notNull())
    .addColumn('event', text, (column) => column.notNull())
    .addColumn('body', text, (column) => column.notNull())
    .addColumn('created_at', integer, (column) => column.notNull())
    .addColumn('tries', integer, (column) => column.notNull())
    .addColumn('next_try_at', integer, (column) => column.notNull())
    .addColumn('ending', text)
    .addColumn('ended_at', integer)
    .addColumn('outcome', text)
    .modifyEnd(table)
    .execute();
  // What waits is little, whatever has ended before.
  await db.schema
    .createIndex('outbox_due')
    .on('outbox')
    .columns(['notification_id', 'next_try_at'])
    .where(sql.ref('ended_at'), 'is', null)
    .execute();
  await db.schema
    .createIndex('outbox_by_subject')
    .on('outbox')
    .columns(['notification_id', 'subject', 'position'])
    .where(sql.ref('ended_at'), 'is', null)
    .execute();
  await db.schema
    .createIndex('outbox_by_time')
    .on('outbox')
    .column('next_try_at')
    .where(sql.ref('ended_at'), 'is', null)
    .execute();
  await db.schema
    .createIndex('outbox_ended')
    .on('outbox')
    .columns(['ending', 'ended_at'])
    .where(sql.ref('ended_at'), 'is not', null)
    .execute();
}

async function shareAndPrune(db: Kysely<Tables>, { text, integer, table }: ColumnTypes): Promise<void> {
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
    .where('status', 'in', FINAL_STATUSES)
    .execute();
  await db.schema
    .createIndex('transactions_ended')
    .on('transactions')
    .column('ended_at')
    .where(sql.ref('ended_at'), 'is not', null)
    .execute();
}

async function countRequests(db: Kysely<Tables>, { text, integer, table, forgettable }: ColumnTypes): Promise<void> {
  // An embedded store has no rows here either.
  await db.schema
    .createTable('rate_buckets')
    .modifyFront(forgettable)
    .addColumn('subject', text, (column) => column.primaryKey().notNull())
    .addColumn('full_at', integer, (column) => column.notNull())
    .modifyEnd(table)
    .execute();
}

async function replaceAndCancel(db: Kysely<Tables>, { text, integer, rising, table }: ColumnTypes): Promise<void> {
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

async function rememberAnswers(db: Kysely<Tables>, { text, integer, table }: ColumnTypes): Promise<void> {
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

async function lockAndBoundValues(db: Kysely<Tables>, { text, integer, table }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('plugin_locks')
    .addColumn('plugin_id', text, (column) => column.notNull())
    .addColumn('name', text, (column) => column.notNull())
    .addColumn('fence', integer, (column) => column.notNull())
    .addColumn('owner', text, (column) => column.notNull())
    .addColumn('expires_at', integer, (column) => column.notNull())
    .addPrimaryKeyConstraint('plugin_locks_pk', ['plugin_id', 'name'])
    .modifyEnd(table)
    .execute();
  await db.schema.createIndex('plugin_locks_expiry').on('plugin_locks').column('expires_at').execute();

  // Plugins that have values get their row when it is first asked for.
  await db.schema
    .createTable('plugin_kv_usage')
    .addColumn('plugin_id', text, (column) => column.primaryKey().notNull())
    .addColumn('keys', integer, (column) => column.notNull())
    .addColumn('bytes', integer, (column) => column.notNull())
    .addColumn('last_fence', integer, (column) => column.notNull())
    .addColumn('counted_at', integer, (column) => column.notNull())
    .modifyEnd(table)
    .execute();
  await db.schema
    .createIndex('plugin_kv_expiry_of_plugin')
    .on('plugin_kv')
    .columns(['plugin_id', 'expires_at'])
    .where(sql.ref('expires_at'), 'is not', null)
    .execute();
}
