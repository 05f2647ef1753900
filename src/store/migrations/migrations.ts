import { type Kysely, sql } from 'kysely';
import type { ColumnTypes } from '../column-types.ts';
import type { Tables } from '../schema.ts';
import { baseline } from './baseline.ts';
import { transactionCounts } from './transaction-counts.ts';

/** One step of the schema. A released step is never edited: a change is made by a new step. */
export interface Migration {
  name: string;
  up(db: Kysely<Tables>, types: ColumnTypes): Promise<void>;
}

/** All steps. A database's version is the number of steps that it has taken. */
export const migrations: readonly Migration[] = [
  { name: 'baseline', up: baseline },
  { name: 'ancestors of API keys', up: ancestorsOfKeys },
  { name: 'dead rows', up: deadRows },
  { name: 'calls', up: calls },
  { name: 'triggers', up: triggers },
  { name: 'counts of transactions', up: transactionCounts },
  { name: 'users of settings', up: usersOfSettings },
];

/** Each transaction changes its row, those of its attempts and the lease of its lane again and again. */
async function deadRows(db: Kysely<Tables>, { clearedOften }: ColumnTypes): Promise<void> {
  for (const table of ['transactions', 'attempts', 'leases']) {
    for (const statement of clearedOften(table)) await statement.execute(db);
  }
}

/** A key shares the rates of the keys that made it. Keys from before have no ancestors. */
async function ancestorsOfKeys(db: Kysely<Tables>, { text }: ColumnTypes): Promise<void> {
  await sql`alter table api_keys add column ancestors ${text} not null default '[]'`.execute(db);
}

/** Durable calls, and the journals of keyed ones. */
async function calls(db: Kysely<Tables>, { text, integer, table }: ColumnTypes): Promise<void> {
  const statements = [
    sql`create table calls (
      id ${text} not null primary key, plugin_id ${text} not null, key_id ${text} not null, key ${text} not null,
      fingerprint ${text} not null, version ${text}, request ${text} not null, state ${text} not null,
      waits_for ${text} not null, next_at ${integer}, tries ${integer} not null, deaths ${integer} not null,
      trigger ${text}, created_at ${integer} not null, expires_at ${integer} not null, ended_at ${integer},
      ending ${text}, token ${integer} not null
    ) ${table}`,
    // An open call that only an event can wake has no next time. An ended one has none, so this index stays small.
    sql`create index calls_due on calls (next_at) where next_at is not null`,
    sql`create index calls_open on calls (expires_at) where ended_at is null`,
    sql`create index calls_of_plugin on calls (plugin_id, created_at, id)`,
    sql`create index calls_ended on calls (ended_at) where ended_at is not null`,
    sql`create index calls_of_version on calls (version)`,
    sql`create table call_journal (
      claim_id ${text} not null references idempotency_keys (id), position ${integer} not null, page ${text} not null,
      primary key (claim_id, position)
    ) ${table}`,
    sql`create table call_events (
      call_id ${text} not null references calls (id), number ${integer} not null, name ${text} not null,
      value ${text} not null, at ${integer} not null, primary key (call_id, number)
    ) ${table}`,
    sql`create table plugin_bundles (
      version ${text} not null primary key, plugin_id ${text} not null, content ${text} not null,
      used_at ${integer} not null
    ) ${table}`,
  ];
  for (const statement of statements) await statement.execute(db);
}

/** Where the triggers of plugins stand, and which plugin sent a transaction. */
async function triggers(db: Kysely<Tables>, { text, integer, table }: ColumnTypes): Promise<void> {
  const statements = [
    sql`create table triggers (
      plugin_id ${text} not null, name ${text} not null, digest ${text} not null, cursor ${text} not null, paused ${text},
      since ${integer} not null, looked_at ${integer} not null, last_call ${text}, last_at ${integer},
      fired ${integer} not null, skipped ${integer} not null, rate_at ${integer} not null,
      primary key (plugin_id, name)
    ) ${table}`,
    sql`create table trigger_deliveries (
      key_id ${text} not null, delivery ${text} not null, at ${integer} not null, primary key (key_id, delivery)
    ) ${table}`,
    sql`create index trigger_deliveries_old on trigger_deliveries (at)`,
    sql`create index calls_of_triggers on calls (key_id, ended_at) where trigger is not null`,
    sql`alter table transactions add column origin ${text}`,
  ];
  for (const statement of statements) await statement.execute(db);
}

/** Which relayers use a signer, a network, a notification or an account, so that nobody reads all of them. */
async function usersOfSettings(db: Kysely<Tables>): Promise<void> {
  const statements = [
    sql`create index relayers_by_signer on relayers (signer_id, network_type, network)`,
    sql`create index relayers_by_network on relayers (network_type, network)`,
    sql`create index relayers_by_notification on relayers (notification_id) where notification_id is not null`,
    sql`create index relayers_by_address on relayers (address)`,
  ];
  for (const statement of statements) await statement.execute(db);
}
