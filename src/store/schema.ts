import type { Generated } from 'kysely';
import type { NetworkType } from '../domain/network-type.ts';
import type { RowOf } from '../domain/record.ts';
import type { apiKeyRecord } from '../features/api-keys/records/api-key.ts';
import type { AuditedChange } from '../features/audit/record.ts';
import type { networkRecord } from '../features/networks/record.ts';
import type { pluginSettingsRecord } from '../features/plugins/records/plugin-settings.ts';
import type { relayerRecord } from '../features/relayers/records/relayer.ts';
import type { signerRecord } from '../features/signers/record.ts';
import type { attemptRecord } from '../features/transactions/records/attempt.ts';
import type { intentRecord } from '../features/transactions/records/intent.ts';
import type { decisionRecord } from '../features/transactions/records/timeline-decision.ts';
import type { transactionRecord } from '../features/transactions/records/transaction.ts';
import type { TransactionStatus } from '../features/transactions/records/transaction-state.ts';
import type { notificationRecord } from '../features/webhooks/records/notification.ts';
import type { WebhookEnd, WebhookEventName } from '../features/webhooks/records/webhook-event.ts';

/**
 * The tables as queries see them, the same on both databases. Times are integer milliseconds. Booleans are 0 and 1.
 * JSON is text. A sequence is text of fixed width. A table of a record has the record's columns (`domain/record.ts`).
 */
export interface Tables {
  relayers: RelayerTable;
  relayer_balances: RelayerBalanceTable;
  transactions: TransactionTable;
  attempts: AttemptTable;
  intents: IntentTable;
  decisions: DecisionTable;
  transaction_events: TransactionEventTable;
  chain_identities: ChainIdentityTable;
  plugin_kv: KvTable;
  plugin_kv_usage: KvUsageTable;
  plugin_locks: LockTable;
  idempotency_keys: IdempotencyKeyTable;
  effects: EffectTable;
  kept_bytes: KeptBytesTable;
  budgets: BudgetTable;
  spending: SpendingTable;
  notifications: NotificationTable;
  outbox: OutboxTable;
  networks: NetworkTable;
  signers: SignerTable;
  api_keys: ApiKeyTable;
  plugin_settings: PluginSettingsTable;
  audit_records: AuditTable;
  leases: LeaseTable;
  rate_buckets: RateBucketTable;
  instances: InstanceTable;
  lanes: LaneTable;
  meta: MetaTable;
  migrations: MigrationTable;
}

export interface RelayerTable extends RowOf<typeof relayerRecord> {
  /** Random, and new with each write of the row (`newRevision`). */
  revision: number;
  created_at: number;
}

export interface TransactionTable extends RowOf<typeof transactionRecord> {
  /** Rises with each acceptance. Gives the exact order of requests, whatever the clock shows. */
  accepted: Generated<number>;
  /** Changes with each change of a field of `Transaction`. */
  revision: number;
  /** When the transaction became final. */
  ended_at: number | null;
  /** Number of effects of idempotency keys that name the transaction. It is pruned only at 0. */
  pins: Generated<number>;
}

export interface AttemptTable extends RowOf<typeof attemptRecord> {}

interface IntentTable extends Omit<RowOf<typeof intentRecord>, 'position'> {
  position: Generated<number>;
  /** Null while the intent waits. */
  settled_at: number | null;
  /** Why the intent was not carried out. */
  refusal: string | null;
}

interface DecisionTable extends RowOf<typeof decisionRecord> {
  position: Generated<number>;
  transaction_id: string;
}

interface TransactionEventTable {
  position: Generated<number>;
  /** With the position, gives the order in which events may be reported. */
  written: Generated<number>;
  at: number;
  transaction_id: string;
  relayer_id: string;
  status: TransactionStatus;
  status_reason: string | null;
  hash: string | null;
}

interface ChainIdentityTable {
  network_type: NetworkType;
  network: string;
  identity: string;
}

interface KvTable {
  plugin_id: string;
  key: string;
  /** JSON that only the plugin reads. */
  value: string;
  expires_at: number | null;
}

interface KvUsageTable {
  plugin_id: string;
  /** Number of the plugin's rows in `plugin_kv`, including expired ones. */
  keys: number;
  /** Bytes of their keys and values, in UTF-8. */
  bytes: number;
  /** The highest fence that a lock of the plugin ever had. */
  last_fence: number;
  /** When the sums were last counted from the values. */
  counted_at: number;
}

interface LockTable {
  plugin_id: string;
  name: string;
  fence: number;
  /** The instance whose call took the lock. */
  owner: string;
  expires_at: number;
}

interface IdempotencyKeyTable {
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
}

interface EffectTable {
  claim_id: string;
  payload_hash: string;
  occurrence: number;
  /** The transaction that the effect made, or is about. */
  transaction_id: string | null;
  /** JSON. Null while the result is unknown, and when the effect failed. */
  outcome: string | null;
  /** JSON: the refusal that the run got when it asked for the effect. */
  failure: string | null;
}

/** Bytes of large answers and outcomes that are kept for each scope. */
interface KeptBytesTable {
  scope: string;
  bytes: number;
}

interface BudgetTable {
  plugin_id: string;
  relayer_id: string;
  /** Decimal text, like all amounts here. The sums of the amounts that the rows of `spending` count. */
  value: string;
  fee: string;
  /** The fee limit of the plugin's last request; null for no limit. */
  fee_limit: string | null;
}

interface SpendingTable {
  transaction_id: string;
  plugin_id: string;
  relayer_id: string;
  /** The amounts that the budget's sums contain for this transaction. */
  value: string;
  fee: string;
  /** The amounts that the transaction took, until they are in the budget's sums. */
  spent_value: string | null;
  spent_fee: string | null;
  /** When the transaction became final. It counts for an hour after that. */
  settled_at: number | null;
}

interface RelayerBalanceTable {
  relayer_id: string;
  /** Decimal. */
  balance: string;
  is_low: number;
}

export interface NotificationTable extends RowOf<typeof notificationRecord> {
  created_at: number;
  /** Sealed, like the next column. */
  signing_key: string | null;
  second_signing_key: string | null;
}

export interface OutboxTable {
  /** Rises with each event. Events of one subject arrive in this order. */
  position: Generated<number>;
  id: string;
  notification_id: string;
  subject: string;
  event: WebhookEventName;
  body: string;
  created_at: number;
  tries: number;
  next_try_at: number;
  /** Null while the event waits; `ended_at` is null too then. */
  ending: WebhookEnd | null;
  ended_at: number | null;
  /** Outcome of the latest delivery. */
  outcome: string | null;
  /** Null in rows of versions without this column, like `due_since`, which counts as `created_at` then. */
  relayer_id: string | null;
  due_since: number | null;
  /** Tries that no longer count. */
  tries_before: Generated<number>;
}

interface NetworkTable extends RowOf<typeof networkRecord> {
  created_at: number;
}

interface SignerTable extends RowOf<typeof signerRecord> {
  created_at: number;
  /** Sealed. */
  config: string;
}

interface PluginSettingsTable extends RowOf<typeof pluginSettingsRecord> {}

interface ApiKeyTable extends RowOf<typeof apiKeyRecord> {
  /** SHA-256 of the key, in hexadecimal. */
  hash: string;
}

export interface AuditTable {
  position: Generated<number>;
  at: number;
  key_id: string;
  request_id: string;
  action: AuditedChange['action'];
  resource: AuditedChange['resource'];
  resource_id: string;
  /** JSON, like the next two columns; null where there was nothing. */
  before: string | null;
  after: string | null;
  secrets: string;
}

interface LeaseTable {
  name: string;
  owner: string;
  token: number;
  /** By the database's clock; 0 when the lease was released. */
  expires_at: number;
}

interface InstanceTable {
  id: string;
  /** By the database's clock, in milliseconds. */
  said_at: number;
  /** A JSON array of the ids of relayers. */
  unreached: string;
}

interface RateBucketTable {
  subject: string;
  /** By the database's clock, in microseconds. */
  full_at: number;
}

interface LaneTable {
  lane: string;
  /** The highest sequence that is permanently used. */
  settled: string;
}

interface MetaTable {
  key: string;
  value: string;
}

interface MigrationTable {
  version: number;
  name: string;
  applied_at: number;
}
