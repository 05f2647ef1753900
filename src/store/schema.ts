import type { Generated } from 'kysely';
import { effectRecord, journalRecord } from '../domain/idempotency.ts';
import type { NetworkType } from '../domain/network-type.ts';
import type { Columns, Marked, RecordKind, RowOf } from '../domain/record.ts';
import { apiKeyRecord } from '../features/api-keys/records/api-key.ts';
import { auditRecord } from '../features/audit/record.ts';
import { bundleRecord, callEventRecord, callRecord } from '../features/calls/record.ts';
import { networkRecord } from '../features/networks/record.ts';
import { pluginSettingsRecord } from '../features/plugins/records/plugin-settings.ts';
import { budgetRecord, spendingRecord } from '../features/plugins/records/spending.ts';
import { relayerBalanceRecord, relayerRecord } from '../features/relayers/records/relayer.ts';
import { signerRecord } from '../features/signers/record.ts';
import { attemptRecord } from '../features/transactions/records/attempt.ts';
import { intentRecord } from '../features/transactions/records/intent.ts';
import { decisionRecord } from '../features/transactions/records/timeline-decision.ts';
import { transactionRecord } from '../features/transactions/records/transaction.ts';
import { transactionEventRecord } from '../features/transactions/records/transaction-event.ts';
import type { TransactionStatus } from '../features/transactions/records/transaction-state.ts';
import { triggerRecord } from '../features/triggers/records/trigger-state.ts';
import { notificationRecord } from '../features/webhooks/records/notification.ts';
import { webhookEventRecord } from '../features/webhooks/records/webhook-event.ts';

/** All kinds of records. Each declares the columns of its table. */
export const RECORD_KINDS = [
  relayerRecord,
  relayerBalanceRecord,
  transactionRecord,
  attemptRecord,
  intentRecord,
  decisionRecord,
  transactionEventRecord,
  networkRecord,
  signerRecord,
  apiKeyRecord,
  pluginSettingsRecord,
  budgetRecord,
  spendingRecord,
  notificationRecord,
  webhookEventRecord,
  effectRecord,
  journalRecord,
  callRecord,
  callEventRecord,
  bundleRecord,
  auditRecord,
  triggerRecord,
] as const;

type RecordTables = { [Kind in (typeof RECORD_KINDS)[number] as Kind['table']]: TableOf<Kind> };

type TableOf<Kind> = Kind extends RecordKind<infer C, infer _, string, infer Beside> ? TableWith<C & Beside> : never;

/** Inserts may leave out the columns that the database fills. */
type TableWith<C extends Columns> = {
  [Name in keyof RowOf<C>]: Name extends Marked<C, 'isGenerated'> ? Generated<RowOf<C>[Name]> : RowOf<C>[Name];
};

/**
 * The tables as queries see them, the same on both databases. Times are integer milliseconds. Booleans are 0 and 1.
 * JSON is text. A sequence is text of fixed width. Most tables are those of records (`domain/record.ts`). The rows of
 * those below are no records: they are counted, locked or passed on.
 */
export interface Tables extends RecordTables {
  chain_identities: {
    network_type: NetworkType;
    network: string;
    identity: string;
  };
  plugin_kv: {
    plugin_id: string;
    key: string;
    /** JSON that only the plugin reads. */
    value: string;
    expires_at: number | null;
  };
  plugin_kv_usage: {
    plugin_id: string;
    /** Number of the plugin's rows in `plugin_kv`, including expired ones. */
    keys: number;
    /** Bytes of their keys and values, in UTF-8. */
    bytes: number;
    /** The highest fence that a lock of the plugin ever had. */
    last_fence: number;
    /** When the sums were last counted from the values. */
    counted_at: number;
  };
  plugin_locks: {
    plugin_id: string;
    name: string;
    fence: number;
    /** The instance whose call took the lock. */
    owner: string;
    expires_at: number;
  };
  idempotency_keys: {
    /** Id of the claim. A forgotten key that is used again gets a new one. */
    id: string;
    scope: string;
    key: string;
    fingerprint: string;
    state: 'running' | 'answered';
    /** The instance that runs the request, or ran it last. */
    owner: string;
    /** Rises with each run. */
    token: number;
    /** When another run may begin; 0 when the last run ended without an answer. */
    expires_at: number;
    has_effects: number;
    created_at: number;
    /** Status of the answer; null until there is an answer. */
    status: number | null;
    /** Body of the answer. Also null for an answer that was too large to be kept. */
    body: string | null;
    /** Bytes that this row adds to `kept_bytes`. */
    kept: Generated<number>;
  };
  /** Bytes of large answers and outcomes that are kept for each scope. */
  kept_bytes: {
    scope: string;
    bytes: number;
  };
  /** Deliveries of webhooks that have called a plugin. */
  trigger_deliveries: {
    /** `trigger:<plugin>/<name>`. */
    key_id: string;
    delivery: string;
    at: number;
  };
  leases: {
    name: string;
    owner: string;
    token: number;
    /** By the database's clock; 0 when the lease was released. */
    expires_at: number;
  };
  rate_buckets: {
    subject: string;
    /** By the database's clock, in microseconds. */
    full_at: number;
  };
  instances: {
    id: string;
    /** By the database's clock, in milliseconds. */
    said_at: number;
    /** A JSON array of the ids of relayers. */
    unreached: string;
  };
  /** Written by triggers of the table `transactions`. What counts is the sum over all writers. */
  transaction_counts: {
    relayer_id: string;
    status: TransactionStatus;
    /** Whether they are being canceled, or were. */
    is_canceled: number;
    /** The connection to PostgreSQL that counted; 0: all those that are gone, or SQLite. */
    writer: number;
    count: number;
  };
  lanes: {
    lane: string;
    /** The highest sequence that is permanently used. */
    settled: string;
  };
  meta: {
    key: string;
    value: string;
  };
  migrations: {
    version: number;
    name: string;
    applied_at: number;
  };
}
