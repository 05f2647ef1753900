import type { History, Mark } from '../domain/history.ts';
import type { Claim, Effect, EffectName, KeptAnswer, KeyedRequest } from '../domain/idempotency.ts';
import type { Json } from '../domain/json/json.ts';
import type { KvLock, KvPage, KvQuota, KvUsage } from '../domain/kv.ts';
import type { NetworkType } from '../domain/network-type.ts';
import type { Page, PageRequest, Part, PartRequest } from '../domain/page.ts';
import type { AnchorKind } from '../domain/transaction/anchor.ts';
import type { Attempt } from '../domain/transaction/attempt.ts';
import type { Decision } from '../domain/transaction/decision.ts';
import type { Intent, IntentRecord } from '../domain/transaction/intent.ts';
import type { Reservation, Shortage, Spent } from '../domain/transaction/spending.ts';
import type { Timestamp, Transaction } from '../domain/transaction/transaction.ts';
import type { EventPlace, TransactionEvent } from '../domain/transaction/transaction-event.ts';
import type { TransactionStatus } from '../domain/transaction/transaction-state.ts';
import type {
  Delivery,
  DeliveryFilter,
  NewWebhookEvent,
  WebhookEvent,
  WebhookReport,
} from '../domain/webhook-event.ts';
import type { Buckets } from './buckets.ts';
import type { Hints } from './hints.ts';
import type { Instances } from './instances.ts';
import type { Lease, Leases } from './lease.ts';
import type { SettingsReader, SettingsWriter } from './settings-store.ts';

/**
 * What the service remembers, in its own words; neither SQL nor a driver shows. SQLite (`sqlite.ts`) and PostgreSQL
 * (`postgres.ts`) run the same queries, and one contract suite tests both.
 */
export interface Store {
  /** Reads what is committed. */
  readonly read: Reader;
  /**
   * Runs the body in one transaction, alone or with others, as if no other wrote meanwhile. Resolves once it is on
   * disk. A throw undoes what the body wrote, and only that.
   *
   * Inside, only the given writer may be awaited: anything else would hold up every other write, so SQLite undoes such
   * a body and PostgreSQL cuts it off. PostgreSQL may run a body again from the start when instances collide, so it has
   * no effects but those on the writer and its own result.
   * @throws AppError `UNAVAILABLE` when the database cannot be written; a connection to PostgreSQL that was lost, or a
   * disk that failed under SQLite, leaves open whether the commit was kept
   */
  write<T>(body: (writer: Writer) => Promise<T>): Promise<T>;
  /**
   * As `write`, while the lease is held: nobody else takes it before the commit.
   * @throws LeaseLost when it is held no longer
   */
  writeUnder<T>(lease: Lease, body: (writer: Writer) => Promise<T>): Promise<T>;
  readonly leases: Leases;
  /** Counts requests over all instances; null where one process has the store to itself. */
  readonly buckets: Buckets | null;
  /** What instances say of themselves; null where one process has the store to itself. */
  readonly instances: Instances | null;
  /** Words between the instances that share this store. */
  readonly hints: Hints;
  /** The store's clock, in milliseconds since the epoch. */
  now(): Promise<Timestamp>;
  /**
   * Tells a database from a copy of it that a tool made elsewhere, or in the place of this one; null where it has no place
   * but its data folder.
   */
  place(): Promise<string | null>;
  close(): Promise<void>;
}

export interface Reader extends SettingsReader {
  /** Under its own relayer only, and while that is there. */
  transaction(relayerId: string, id: string): Promise<Transaction | undefined>;
  /** Newest first, ties by id. With a status that is not final, those being canceled are left out. */
  transactions(relayerId: string, page: PageRequest, status?: TransactionStatus): Promise<Page<Transaction>>;
  /** The latest of a relayer's that was given the sequence. */
  transactionBySequence(relayerId: string, sequence: bigint): Promise<Transaction | undefined>;
  /** A lane's transaction that is made of these bytes of a client and has not ended in vain. */
  transactionByContent(lane: string, contentKey: string): Promise<Pick<Transaction, 'id' | 'relayerId'> | undefined>;
  /** A lane's transaction of which an attempt has this hash, however it ended. */
  transactionByHash(lane: string, hash: string): Promise<Pick<Transaction, 'id' | 'relayerId'> | undefined>;
  /** What a transaction needed first, the latest first. */
  children(parentId: string): Promise<Transaction[]>;
  /** When a transaction became final; null while it is not. */
  endedAt(transactionId: string): Promise<Timestamp | null>;
  /** Of the given transactions; those of each by ordinal. */
  attempts(...transactionIds: string[]): Promise<Attempt[]>;
  /** The latest, at most `limit`, the oldest first. */
  decisions(transactionId: string, limit: number): Promise<Decision[]>;
  /** Where the events of transactions end now; none of those that follow comes before it. */
  latestTransactionEvent(): Promise<EventPlace>;
  /** Whether all that followed an event is still here. */
  isKeptTransactionEvent(place: EventPlace): Promise<boolean>;
  /** Those that follow, at most `limit`, in their order. Each commit's are seen a moment after it at the earliest. */
  transactionEvents(after: EventPlace, limit: number): Promise<TransactionEvent[]>;
  /** A relayer's transactions that are pending, sent or submitted and not being canceled, in the order of acceptance. */
  cancelable(relayerId: string): Promise<Pick<Transaction, 'id' | 'lane'>[]>;
  /** What waits to be carried out in a lane, in order. */
  intents(lane: string, limit: number): Promise<Intent[]>;
  /** What came of an intent: `refusal` null when it was carried out. */
  intentOutcome(position: number): Promise<{ refusal: string | null } | 'waiting' | undefined>;
  /** How many intents wait to be carried out, in all lanes. */
  waitingIntents(): Promise<number>;
  /** The latest intents of a transaction, at most `limit`, the oldest first. */
  intentRecords(transactionId: string, limit: number): Promise<IntentRecord[]>;
  /** Lanes that have a transaction whose `nextActionAt` is due, or an intent that waits. */
  dueLanes(now: Timestamp): Promise<string[]>;
  /** A transaction of a lane, whoever's it is. */
  transactionOfLane(lane: string, id: string): Promise<Transaction | undefined>;
  /** A lane's pending transactions with that kind of anchor that are due, those for longest first. */
  duePending(lane: string, kind: AnchorKind, now: Timestamp, limit: number): Promise<Transaction[]>;
  /** A lane's transactions that are signed and not final, with their attempts, in the order of acceptance. */
  openTransactions(lane: string): Promise<{ transaction: Transaction; attempts: Attempt[] }[]>;
  /** Pending transactions of all lanes, at most `limit`: accepted, and never signed. */
  unsigned(limit: number): Promise<Transaction[]>;
  unsignedCount(): Promise<number>;
  /** The lowest `nextActionAt` of all, or of those after the given moment, for the next wake-up. */
  nextActionAt(after?: Timestamp): Promise<Timestamp | null>;
  /** The sequence after the highest of the lane's account that is used for good; null where none is. */
  settledSequence(lane: string): Promise<bigint | null>;
  /** The sequence after the highest that the lane's open or ended transactions use; null where none does. */
  knownSequence(lane: string): Promise<bigint | null>;
  /** Not final, of one relayer: pending, sent and submitted. */
  pendingCount(relayerId: string): Promise<number>;
  /** How many transactions have each of the statuses that are not final, of every relayer; none where there are none. */
  openCounts(): Promise<OpenCount[]>;
  lastConfirmedAt(relayerId: string): Promise<Timestamp | null>;

  /** The chain identity that was pinned at the first contact with a network. */
  chainIdentity(type: NetworkType, network: string): Promise<string | undefined>;

  /** Notifications for which an event is due, deleted ones as well. */
  dueNotifications(now: Timestamp): Promise<string[]>;
  /** When the next event becomes due that is not due yet. */
  nextEventAt(now: Timestamp): Promise<Timestamp | null>;
  /** How many events have not ended. */
  waitingEvents(): Promise<number>;
  /** The latest first. No look is longer for what the notification has behind it. */
  deliveries(notificationId: string, part: PartRequest, filter: DeliveryFilter): Promise<Part<Delivery>>;
  /** With the exact text that is signed and sent. */
  delivery(notificationId: string, id: string): Promise<(Delivery & Pick<WebhookEvent, 'body'>) | undefined>;

  /** The JSON text of a plugin's value; expired ones are absent. */
  kvGet(pluginId: string, key: string): Promise<string | undefined>;
  kvHas(pluginId: string, key: string): Promise<boolean>;
  /** A plugin's keys in the order of their bytes, without expired ones. */
  kvKeys(pluginId: string, page: KvPage): Promise<string[]>;
  kvUsage(pluginId: string): Promise<KvUsage>;

  /** What is known of an effect. */
  effect(effect: Effect): Promise<StoredEffect | undefined>;
  /** The names of all effects of a keyed request that happened, may have, or were refused. */
  effectNames(claimId: string): Promise<EffectName[]>;

  /** Those of the given transactions that count against a plugin's budget. */
  budgeted(transactionIds: readonly string[]): Promise<Set<string>>;
  /** What counts against a plugin's budget of a relayer now: what is under way, and what ended within the hour. */
  spentLastHour(pluginId: string, relayerId: string): Promise<Spent>;
  /** When what has ended gives an amount back; null when that takes more than what has ended, or very long. */
  freeFrom(
    budget: Pick<Reservation, 'pluginId' | 'relayerId'>,
    part: keyof Spent,
    needed: bigint,
  ): Promise<Timestamp | null>;

  /** What the database says of its own past. */
  history(): Promise<History>;
}

/** What an effect of a keyed request came to; nobody knows where it has neither an outcome nor a failure. */
export interface StoredEffect {
  /** The transaction that it made, or is about. */
  transactionId: string | null;
  outcome?: Json;
  /** With what the run was refused that asked for it. */
  failure?: Json;
}

/** What is noted of an effect: nothing before it is known what comes of it. */
export interface EffectNote {
  transactionId?: string;
  outcome?: Json;
  failure?: Json;
  /** True for what leaves nothing behind when its run ends: with nothing else the key is free for another try. */
  leavesNothing?: boolean;
  /** What its scope may have kept; an outcome beyond it is not. */
  quotaBytes?: number;
}

/** Who asks to run a keyed request. */
export interface Claimant {
  /** Of the claim, when the key is new. */
  id: string;
  /** Tells the instances on a store apart, and each start of one. */
  owner: string;
  /** How long the claim lasts without renewal. */
  forMs: number;
  /** Nobody else has the store: what another owner ran is over. */
  isAlone: boolean;
}

/** What came of asking to run a keyed request. */
export type KeyState =
  | { kind: 'claimed'; claim: Claim }
  | { kind: 'running' }
  | { kind: 'answered'; answer: KeptAnswer }
  | { kind: 'other-request' };

/** Who takes a lock, and for how long. */
export interface LockTaker {
  /** Tells the instances on a store apart, and each start of one. */
  owner: string;
  /** Nobody else has the store: what another owner held is free. */
  isAlone: boolean;
  forMs: number;
}

/** How many transactions of a relayer have a status. */
export interface OpenCount {
  relayerId: string;
  networkType: NetworkType;
  status: TransactionStatus;
  count: number;
  /** When the oldest of them was accepted. */
  oldestAt: Timestamp;
}

export interface Writer extends Reader, SettingsWriter {
  insertTransaction(transaction: Transaction): Promise<void>;
  /**
   * Changes a transaction, if it still has the status that the caller saw.
   * @returns false when it has another one by now: nothing was changed
   * @throws when the state table does not allow the step
   */
  updateTransaction(id: string, seen: TransactionStatus, change: TransactionChange): Promise<boolean>;
  /**
   * Stores a signed attempt. Unique in (transaction, ordinal) and in (lane, hash).
   * @throws NoConflict when a living attempt of the transaction consumes something else, so that both could execute
   */
  insertAttempt(attempt: Attempt): Promise<void>;
  /** What counts is the first time. */
  attemptAccepted(transactionId: string, ordinal: number, taken: { at: Timestamp; by?: string | null }): Promise<void>;
  /** It can never execute. What counts is the first time. */
  attemptDied(transactionId: string, ordinal: number, at: Timestamp): Promise<void>;
  /** The sequence is used for good. */
  settleSequence(lane: string, sequence: bigint): Promise<void>;
  insertDecision(transactionId: string, decision: Omit<Decision, 'at'>): Promise<void>;
  /** Resolves with its position. */
  insertIntent(intent: Pick<Intent, 'transactionId' | 'lane' | 'action'>): Promise<number>;
  /** Notes what came of an intent that waits; `refusal` null when it was carried out. */
  settleIntent(position: number, refusal: string | null): Promise<void>;
  /**
   * Deletes transactions that became final before the given moment, with their attempts, the oldest first and at most
   * `limit`; resolves with their number. Those stay that an idempotency key names.
   */
  pruneTransactions(before: Timestamp, limit: number): Promise<number>;
  /**
   * Deletes events of transactions from before the given moment, the oldest first and at most `limit`; resolves with
   * their number. The latest one stays.
   */
  pruneTransactionEvents(before: Timestamp, limit: number): Promise<number>;
  /** Pins a network's chain; a second, different value is an error. */
  pinChainIdentity(type: NetworkType, network: string, identity: string): Promise<void>;
  /** The network is pinned to that chain no more. */
  unpinChainIdentity(type: NetworkType, network: string, identity: string): Promise<void>;

  /** Due at once. */
  insertEvent(event: NewWebhookEvent): Promise<void>;
  /**
   * Begins the delivery of due events, at most `limit`, the longest due first; of each subject only the earliest one
   * that has not ended. They are due again after `forMs`, unless {@link Writer.settleEvent} comes before.
   */
  claimEvents(notificationId: string, limit: number, forMs: number): Promise<WebhookEvent[]>;
  /**
   * Notes what came of a delivery; the events that wait behind it are due when it is, or now when it has ended.
   * @returns false when it was begun anew meanwhile, or has ended: nothing was changed
   */
  settleEvent(event: WebhookEvent, report: WebhookReport): Promise<boolean>;
  /** Makes due now what will be due within the given time: for a start after which no delivery can be under way. */
  resumeEvents(withinMs: number): Promise<void>;
  /** Makes an event due now, whether or not it has ended, with all its tries before it. */
  redeliver(notificationId: string, id: string): Promise<void>;
  /**
   * Deletes events that ended before the given moment, that of the dead ones for these, the oldest first and at most
   * `limit`; resolves with their number.
   */
  pruneOutbox(before: { others: Timestamp; dead: Timestamp }, limit: number): Promise<number>;

  /**
   * Keeps a JSON text, for ever without `forMs`.
   * @returns what the plugin uses when the quota has no room for it: then nothing is written
   */
  kvSet(
    pluginId: string,
    key: string,
    json: string,
    options?: { forMs?: number | undefined; quota?: KvQuota },
  ): Promise<KvUsage | undefined>;
  /** True when there was one. */
  kvDelete(pluginId: string, key: string): Promise<boolean>;
  /**
   * Deletes some values of a plugin, those first whose keys come right after the given one (all come after `''`).
   * @returns how many of them had not expired, and after which key to go on; `upTo` undefined when none is left
   */
  kvClear(pluginId: string, after: string): Promise<{ live: number; upTo: string | undefined }>;
  /** Looks for room: deletes at most `limit` expired values of a plugin, or counts anew. True when that changed its usage. */
  kvReclaim(pluginId: string, limit: number): Promise<boolean>;
  /** Deletes expired values and locks of all plugins, the oldest first and at most `limit`; resolves with their number. */
  kvPrune(limit: number): Promise<number>;

  /** Takes a lock of a plugin, unless it is held: then null. Once its time is over it is free. */
  kvLock(pluginId: string, name: string, taker: LockTaker): Promise<KvLock | null>;
  /** Gives a lock back; false when it is not held under that fence any more. */
  kvUnlock(pluginId: string, lock: KvLock): Promise<boolean>;
  /** One of these locks that is not held any more. The others stay held until the commit, whatever their time is. */
  kvLostLock(pluginId: string, locks: readonly KvLock[]): Promise<KvLock | undefined>;

  /** Begins a run of a keyed request, unless one is under way or it was answered. */
  claimKey(request: KeyedRequest, claimant: Claimant): Promise<KeyState>;
  /** Starts the time of these anew; passes over those that another run has taken. */
  renewClaims(claims: readonly Claim[], forMs: number): Promise<void>;
  /**
   * Ends a run with the answer that every repeat gets from now on; with `onlyAfterEffects` only if it had one. Of large
   * answers a scope has so many bytes kept, and the oldest give way: their repeats are told the status.
   * @returns false when nothing was kept, also because another run has taken the claim
   */
  keepAnswer(
    claim: Claim,
    answer: KeptAnswer,
    when: { onlyAfterEffects: boolean; quotaBytes?: number },
  ): Promise<boolean>;
  /** Ends a run without an answer: the next repeat runs. The key is forgotten if no run of it had an effect that stays. */
  leaveKey(claim: Claim): Promise<void>;
  /**
   * Notes an effect in the commit in which it happens, or without an outcome before it happens, or as refused. The
   * transaction that it names is kept as long as the key.
   * @throws DuplicateRecord; AppError `IDEMPOTENCY_RUNNING` when another run has taken the claim, or it was left and
   *   forgotten
   */
  insertEffect(effect: Effect, note: EffectNote): Promise<void>;
  /** Forgets an effect that was begun and did not happen. */
  forgetEffect(effect: Effect): Promise<void>;
  /** Notes what came of an effect that was begun. */
  settleEffect(effect: Effect, note: Pick<EffectNote, 'outcome' | 'failure' | 'quotaBytes'>): Promise<void>;
  /**
   * Deletes keys that were first used before the given moment, with their effects, the oldest first and at most
   * `limit`; resolves with their number. Those stay that are running or name a transaction that is not final.
   */
  pruneKeys(before: Timestamp, limit: number): Promise<number>;

  /**
   * Reserves what a transaction can move and cost, in the commit that accepts it: it counts from now until an hour
   * after it has ended.
   * @returns what the budget lacks: then nothing is reserved
   */
  reserveSpending(reservation: Reservation): Promise<Shortage | undefined>;
  /**
   * Raises what is reserved for a transaction to what its next version can take, before that is signed; what none
   * counts is passed over. Only the fee is held to its limit, and not even that with `mayExceed`.
   * @returns what the budget lacks: then nothing is raised
   */
  raiseSpending(ask: SpendingRaise): Promise<(Shortage & { pluginId: string }) | undefined>;
  /** Notes in the commit in which transactions end what they took; passes over those that nobody counts. */
  settleSpending(ended: readonly (Spent & { transactionId: string })[]): Promise<void>;
  /** Brings the sums of a budget up to date with at most so many that ended; resolves with their number. */
  foldSpending(pluginId: string, relayerId: string, limit: number): Promise<number>;

  /**
   * Deletes what the audit has of transactions and signatures of before the given moment, the oldest first and at most `limit`; resolves
   * with their number. Changes of settings stay.
   */
  pruneAudit(before: Timestamp, limit: number): Promise<number>;

  putHistory(history: Pick<History, 'epochs' | 'place'>): Promise<void>;
  /** Of the instance with this data folder. */
  putMark(folder: string, mark: Mark): Promise<void>;
}

/** What the next version of a transaction can take. */
export interface SpendingRaise extends Spent {
  transactionId: string;
  mayExceed: boolean;
}

export type TransactionChange = Partial<
  Pick<
    Transaction,
    | 'lane'
    | 'contentKey'
    | 'status'
    | 'statusReason'
    | 'sentAt'
    | 'confirmedAt'
    | 'validUntil'
    | 'request'
    | 'fields'
    | 'sequence'
    | 'hash'
    | 'noopEnd'
    | 'nextActionAt'
  >
>;
