import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { ColumnTypes } from '../column-types.ts';
import type { Tables } from '../schema.ts';

/** The first schema. `schema.ts` explains the columns. */
export async function baseline(db: Kysely<Tables>, types: ColumnTypes): Promise<void> {
  const parts = [settings, audit, transactions, events, idempotency, spending, plugins, webhooks, instances];
  for (const statement of parts.flatMap((part) => part(types))) await statement.execute(db);
}

type Statements = RawBuilder<unknown>[];

function settings({ text, integer, table }: ColumnTypes): Statements {
  return [
    sql`create table meta (key ${text} not null primary key, value ${text} not null) ${table}`,
    sql`create table chain_identities (
      network_type ${text} not null, network ${text} not null, identity ${text} not null,
      primary key (network_type, network)
    ) ${table}`,
    sql`create table relayers (
      id ${text} not null primary key, revision ${integer} not null, created_at ${integer} not null,
      name ${text} not null, network ${text} not null, network_type ${text} not null, address ${text} not null,
      paused ${integer} not null, disabled_reason ${text}, signer_id ${text} not null, notification_id ${text},
      custom_rpc_urls ${text}, policies ${text} not null, declaration ${text}
    ) ${table}`,
    // Last known balances of the relayers' accounts.
    sql`create table relayer_balances (
      relayer_id ${text} not null primary key, balance ${text} not null, is_low ${integer} not null
    ) ${table}`,
    // Networks that were made through the API, and endpoints that were changed there.
    sql`create table networks (
      network_type ${text} not null, name ${text} not null, created_at ${integer} not null, rpc_urls ${text} not null,
      settings ${text}, declaration ${text}, primary key (network_type, name)
    ) ${table}`,
    // Signers that were made through the API.
    sql`create table signers (
      id ${text} not null primary key, created_at ${integer} not null, type ${text} not null, stamp ${text} not null,
      shown ${text} not null, config ${text} not null
    ) ${table}`,
    // API keys besides the one from the environment.
    sql`create table api_keys (
      id ${text} not null primary key, created_at ${integer} not null, name ${text} not null,
      hash ${text} not null unique, permissions ${text} not null, allowed_origins ${text} not null, rate ${text},
      expires_at ${integer}
    ) ${table}`,
  ];
}

/** Who changed what, and how. */
function audit({ text, integer, rising, table }: ColumnTypes): Statements {
  return [
    sql`create table audit_records (
      position ${rising} primary key, at ${integer} not null, key_id ${text} not null, request_id ${text} not null,
      action ${text} not null, resource ${text} not null, resource_id ${text} not null, before ${text}, after ${text},
      secrets ${text} not null
    ) ${table}`,
    sql`create index audit_records_of_resource on audit_records (resource, resource_id, position)`,
    // Finds changes of settings quickly among many other records.
    sql`create index audit_records_of_changes on audit_records (position)
      where resource not in ('transaction', 'delivery', 'signature')`,
  ];
}

function transactions({ text, integer, rising, table }: ColumnTypes): Statements {
  return [
    sql`create table transactions (
      accepted ${rising} primary key, id ${text} not null unique, relayer_id ${text} not null,
      revision ${integer} not null, network_type ${text} not null, lane ${text} not null, status ${text} not null,
      status_reason ${text},
      created_at ${integer} not null, sent_at ${integer}, confirmed_at ${integer}, valid_until ${integer},
      request ${text} not null, fields ${text} not null, anchor_kind ${text} not null, on_death ${text} not null,
      content_key ${text}, parent_id ${text}, sequence ${text}, hash ${text}, noop_end ${text},
      next_action_at ${integer}, ended_at ${integer}, pins ${integer} not null default 0,
      check (next_action_at is not null or status in ('confirmed', 'failed', 'canceled', 'expired'))
    ) ${table}`,
    // Exactly the open transactions have a next action. So these two indexes have all of them, and stay small, however
    // long the history is.
    sql`create index transactions_due on transactions (next_action_at) where next_action_at is not null`,
    sql`create index transactions_open_in_lane on transactions (lane, status, next_action_at, accepted)
      where next_action_at is not null`,
    sql`create index transactions_by_relayer on transactions (relayer_id, created_at, id)`,
    sql`create index transactions_by_relayer_and_status
      on transactions (relayer_id, status, created_at, id, noop_end)`,
    sql`create index transactions_by_sequence on transactions (relayer_id, sequence) where sequence is not null`,
    sql`create index transactions_confirmed on transactions (relayer_id, confirmed_at)
      where confirmed_at is not null`,
    // Without pinned transactions, so that pruning does not read them, however many there are.
    sql`create index transactions_ended on transactions (ended_at) where ended_at is not null and pins = 0`,
    sql`create index transactions_by_parent on transactions (parent_id) where parent_id is not null`,
    // The same bytes of a client make only one transaction. A transaction that ended without effect gives its key back.
    sql`create unique index transactions_by_content on transactions (lane, content_key)
      where content_key is not null`,
    sql`create table attempts (
      transaction_id ${text} not null references transactions (id), ordinal ${integer} not null,
      lane ${text} not null, anchor ${text}, raw ${text} not null, hash ${text} not null,
      created_at ${integer} not null, accepted_at ${integer}, accepted_by ${text}, dead_at ${integer},
      purpose ${text} not null, request ${text} not null, fields ${text} not null,
      primary key (transaction_id, ordinal), unique (lane, hash)
    ) ${table}`,
    sql`create table lanes (lane ${text} not null primary key, settled ${text} not null) ${table}`,
    sql`create table intents (
      position ${rising} primary key, transaction_id ${text} not null, lane ${text} not null,
      action ${text} not null, created_at ${integer} not null, settled_at ${integer}, refusal ${text}
    ) ${table}`,
    sql`create index intents_waiting on intents (lane, position) where settled_at is null`,
    sql`create index intents_of_transaction on intents (transaction_id)`,
    sql`create table decisions (
      position ${rising} primary key, transaction_id ${text} not null, at ${integer} not null,
      kind ${text} not null, text ${text} not null
    ) ${table}`,
    sql`create index decisions_of_transaction on decisions (transaction_id, position)`,
  ];
}

/** Events of transactions, in the order in which they can be reported. */
function events({ text, integer, rising, ofWrite, table }: ColumnTypes): Statements {
  return [
    sql`create table transaction_events (
      position ${rising} primary key, written ${ofWrite}, at ${integer} not null, transaction_id ${text} not null,
      relayer_id ${text} not null, status ${text} not null, status_reason ${text}, hash ${text}
    ) ${table}`,
    sql`create index transaction_events_in_order on transaction_events (written, position)`,
  ];
}

function idempotency({ text, integer, table }: ColumnTypes): Statements {
  return [
    sql`create table idempotency_keys (
      id ${text} not null primary key, scope ${text} not null, key ${text} not null, fingerprint ${text} not null,
      state ${text} not null, owner ${text} not null, token ${integer} not null, expires_at ${integer} not null,
      has_effects ${integer} not null, created_at ${integer} not null, status ${integer}, body ${text},
      kept ${integer} not null default 0, unique (scope, key)
    ) ${table}`,
    sql`create index idempotency_keys_by_age on idempotency_keys (created_at)`,
    sql`create index idempotency_keys_kept on idempotency_keys (scope, created_at)
      where kept > 0 and state = 'answered'`,
    sql`create table kept_bytes (scope ${text} not null primary key, bytes ${integer} not null) ${table}`,
    sql`create table effects (
      claim_id ${text} not null references idempotency_keys (id), payload_hash ${text} not null,
      occurrence ${integer} not null, transaction_id ${text}, outcome ${text}, failure ${text},
      primary key (claim_id, payload_hash, occurrence)
    ) ${table}`,
  ];
}

function spending({ text, integer, table }: ColumnTypes): Statements {
  return [
    sql`create table budgets (
      plugin_id ${text} not null, relayer_id ${text} not null, value ${text} not null, fee ${text} not null,
      fee_limit ${text}, primary key (plugin_id, relayer_id)
    ) ${table}`,
    sql`create table spending (
      transaction_id ${text} not null primary key, plugin_id ${text} not null, relayer_id ${text} not null,
      value ${text} not null, fee ${text} not null, spent_value ${text}, spent_fee ${text}, settled_at ${integer}
    ) ${table}`,
    sql`create index spending_settled on spending (plugin_id, relayer_id, settled_at) where settled_at is not null`,
    sql`create index spending_unfolded on spending (plugin_id, relayer_id, transaction_id)
      where spent_value is not null`,
  ];
}

function plugins({ text, integer, table }: ColumnTypes): Statements {
  return [
    // The clients' settings of plugins.
    sql`create table plugin_settings (
      plugin_id ${text} not null primary key, settings ${text} not null, is_disabled ${integer} not null,
      declared ${text} not null
    ) ${table}`,
    sql`create table plugin_kv (
      plugin_id ${text} not null, key ${text} not null, value ${text} not null, expires_at ${integer},
      primary key (plugin_id, key)
    ) ${table}`,
    sql`create index plugin_kv_expiry on plugin_kv (expires_at) where expires_at is not null`,
    sql`create index plugin_kv_expiry_of_plugin on plugin_kv (plugin_id, expires_at) where expires_at is not null`,
    sql`create table plugin_kv_usage (
      plugin_id ${text} not null primary key, keys ${integer} not null, bytes ${integer} not null,
      last_fence ${integer} not null, counted_at ${integer} not null
    ) ${table}`,
    sql`create table plugin_locks (
      plugin_id ${text} not null, name ${text} not null, fence ${integer} not null, owner ${text} not null,
      expires_at ${integer} not null, primary key (plugin_id, name)
    ) ${table}`,
    sql`create index plugin_locks_expiry on plugin_locks (expires_at)`,
  ];
}

function webhooks({ text, integer, rising, table }: ColumnTypes): Statements {
  return [
    sql`create table notifications (
      id ${text} not null primary key, created_at ${integer} not null, type ${text} not null, url ${text} not null,
      signing_key ${text}, declaration ${text}, second_signing_key ${text}
    ) ${table}`,
    sql`create table outbox (
      position ${rising} primary key, id ${text} not null unique, notification_id ${text} not null,
      subject ${text} not null, event ${text} not null, body ${text} not null, created_at ${integer} not null,
      tries ${integer} not null, next_try_at ${integer} not null, ending ${text}, ended_at ${integer}, outcome ${text},
      relayer_id ${text}, due_since ${integer}, tries_before ${integer} not null default 0
    ) ${table}`,
    // Finds the events of one transaction quickly, however many events there are.
    sql`create index outbox_of_subject on outbox (notification_id, subject, position)`,
    // Few events wait, however many have ended. Of several fitting indexes, SQLite takes the last.
    sql`create index outbox_due on outbox (notification_id, next_try_at) where ended_at is null`,
    sql`create index outbox_by_subject on outbox (notification_id, subject, position) where ended_at is null`,
    sql`create index outbox_by_time on outbox (next_try_at) where ended_at is null`,
    sql`create index outbox_ended on outbox (ending, ended_at) where ended_at is not null`,
    sql`create index outbox_of_notification on outbox (notification_id, position)`,
    sql`create index outbox_dead on outbox (notification_id, position) where ending = 'dead'`,
  ];
}

/** An embedded store has no rows in these tables: one process has all leases, and there are no other instances. */
function instances({ text, integer, table, forgettable }: ColumnTypes): Statements {
  return [
    sql`create table leases (
      name ${text} not null primary key, owner ${text} not null, token ${integer} not null,
      expires_at ${integer} not null
    ) ${table}`,
    sql`create ${forgettable} table rate_buckets (subject ${text} not null primary key, full_at ${integer} not null)
      ${table}`,
    sql`create ${forgettable} table instances (
      id ${text} not null primary key, said_at ${integer} not null, unreached ${text} not null
    ) ${table}`,
  ];
}
