import type {
  IdempotencyClaim,
  JournalEntry,
  JournalPage,
  KeyedEffect,
  KeyedEffectName,
  KeyedRequest,
  StoredAnswer,
} from '../domain/idempotency.ts';
import type { Json } from '../domain/json/json.ts';
import type { NetworkType } from '../domain/network-type.ts';
import type { ListPart, ListPartRequest, Page, PageRequest } from '../domain/page.ts';
import type {
  CallEnd,
  CallEnding,
  CallEvent,
  CallFilter,
  CallRecord,
  CallState,
  CallWait,
  NewCall,
} from '../features/calls/record.ts';
import type { KvLock, KvPage, KvQuota, KvUsage } from '../features/plugins/records/kv.ts';
import type { ActualSpend, BudgetShortage, SpendingReservation } from '../features/plugins/records/spending.ts';
import type { AnchorKind } from '../features/transactions/records/anchor.ts';
import type { Attempt } from '../features/transactions/records/attempt.ts';
import type { Intent, IntentOutcome } from '../features/transactions/records/intent.ts';
import type { Decision } from '../features/transactions/records/timeline-decision.ts';
import type { Timestamp, Transaction, TransactionChange } from '../features/transactions/records/transaction.ts';
import type { EventPlace, TransactionEvent } from '../features/transactions/records/transaction-event.ts';
import type { TransactionStatus } from '../features/transactions/records/transaction-state.ts';
import type { TriggerCall, TriggerState } from '../features/triggers/records/trigger-state.ts';
import type {
  DeliveryFilter,
  ListedWebhookDelivery,
  NewWebhookEvent,
  WebhookDeliveryResult,
  WebhookEvent,
} from '../features/webhooks/records/webhook-event.ts';
import type { Hints, Instances, SharedTokenBuckets } from './instances.ts';
import type { Lease, Leases } from './lease.ts';
import type { SettingsReader, SettingsWriter } from './settings-store.ts';

export interface WriteOptions {
  /**
   * No other body writes what this one reads or writes, but rows that are held until the commit, such as leases. So
   * PostgreSQL may run several such bodies at once in one transaction, which costs one commit. If one of them fails,
   * each runs again alone.
   */
  isApart?: boolean;
}

/**
 * The service's storage, in the service's own terms: its interface shows neither SQL nor a driver. SQLite (`sqlite.ts`)
 * and PostgreSQL (`postgres.ts`) run the same queries, and one contract suite tests both.
 */
export interface Store {
  /** Reads committed data. */
  readonly read: StoreReader;
  /**
   * Runs the body in one transaction, alone or with other bodies, as if nobody else wrote during it. Resolves once its
   * writes are on disk. If the body throws, its own writes are undone, and no others.
   *
   * The body may await only the given writer. Anything else would hold up every other write, so SQLite undoes such a
   * body and PostgreSQL cuts it off. PostgreSQL may run a body again from the start when instances collide, so a body
   * must have no effects except on the writer and in its result.
   * @throws AppError `UNAVAILABLE` when the database cannot be written. After a lost connection to PostgreSQL, or a
   * failed disk under SQLite, the commit may or may not have been kept
   */
  write<T>(body: (writer: StoreWriter) => Promise<T>, options?: WriteOptions): Promise<T>;
  /**
   * Like `write`, while the lease is held: no other instance can take the lease before the commit.
   * @throws LeaseLost when the lease is no longer held
   */
  writeUnder<T>(lease: Lease, body: (writer: StoreWriter) => Promise<T>, options?: WriteOptions): Promise<T>;
  readonly leases: Leases;
  /** Rate limits over all instances; null where one process has the store to itself. */
  readonly buckets: SharedTokenBuckets | null;
  /** The instances that share this store; null where one process has the store to itself. */
  readonly instances: Instances | null;
  /** Hints between the instances that share this store. */
  readonly hints: Hints;
  /** The store's clock, in milliseconds since the epoch. */
  now(): Promise<Timestamp>;
  /**
   * Identifies the database, so that a copy that a tool made elsewhere, or put in its place, can be told from it. Null
   * where the data folder is the database's only place.
   */
  place(): Promise<string | null>;
  /** What an operator should change so that a crash or a failover loses no commit. One sentence each. */
  warnings(): Promise<string[]>;
  close(): Promise<void>;
}

export interface StoreReader extends SettingsReader {
  /** Finds a transaction by its id under its own relayer only, while that relayer exists. */
  transaction(relayerId: string, id: string): Transaction | undefined | Promise<Transaction | undefined>;
  /** Newest first, ties by id. For a status that is not final, transactions that are being canceled are left out. */
  transactions(
    relayerId: string,
    page: PageRequest,
    status?: TransactionStatus,
  ): Page<Transaction> | Promise<Page<Transaction>>;
  /** The relayer's latest transaction with this sequence. */
  transactionBySequence(relayerId: string, sequence: bigint): Promise<Transaction | undefined>;
  /**
   * The lane's transaction that was made from these bytes of a client. A transaction that ended without effect does not
   * count.
   */
  transactionByContent(lane: string, contentKey: string): Promise<Pick<Transaction, 'id' | 'relayerId'> | undefined>;
  /** The lane's transaction that has an attempt with this hash, however it ended. */
  transactionByHash(lane: string, hash: string): Promise<Pick<Transaction, 'id' | 'relayerId'> | undefined>;
  /** The transactions that a transaction needed to have done first, newest first. */
  children(parentId: string): Promise<Transaction[]>;
  /** When a transaction became final; null while it is not. */
  endedAt(transactionId: string): Promise<Timestamp | null>;
  /** The attempts of the given transactions. Those of each transaction are ordered by ordinal. */
  attempts(...transactionIds: string[]): Promise<Attempt[]>;
  /** The latest `limit` decisions at most, oldest first. */
  decisions(transactionId: string, limit: number): Promise<Decision[]>;
  /** The place after which all later events of transactions come. */
  latestTransactionEvent(): Promise<EventPlace>;
  /** Whether all events after this place are still stored. */
  isKeptTransactionEvent(place: EventPlace): Promise<boolean>;
  /**
   * Events after this place, at most `limit`, in order. The events of a commit appear a moment after it at the
   * earliest.
   */
  transactionEvents(after: EventPlace, limit: number): Promise<TransactionEvent[]>;
  /** The events at these positions that are still stored, in order. */
  transactionEventsAt(positions: readonly number[]): Promise<TransactionEvent[]>;
  /** Which plugins sent these transactions, by their ids. Transactions that are gone are left out. */
  transactionOrigins(
    transactionIds: readonly string[],
  ): Promise<Map<string, Pick<Transaction, 'origin' | 'createdAt'>>>;
  /**
   * A relayer's transactions that are pending, sent or submitted and not being canceled, in the order of acceptance.
   */
  cancelable(relayerId: string): Promise<Pick<Transaction, 'id' | 'lane'>[]>;
  /** The intents of a lane that wait to be carried out, in order. */
  intents(lane: string, limit: number): Promise<Intent[]>;
  /** The outcome of an intent. `refusal` is null when it was carried out. */
  intentOutcome(position: number): Promise<{ refusal: string | null } | 'waiting' | undefined>;
  /** How many intents wait to be carried out, in all lanes. */
  waitingIntents(): Promise<number>;
  /** The latest intents of a transaction, at most `limit`, the oldest first. */
  intentRecords(transactionId: string, limit: number): Promise<IntentOutcome[]>;
  /**
   * Lanes that have a transaction whose `nextActionAt` is due, or an intent that waits. Looks at a limited number of
   * lanes, in order, after the given one. With `upTo`, there are more lanes after that one. Those with intents come with
   * the first, whatever their place.
   */
  dueLanes(now: Timestamp, after?: string): Promise<{ lanes: string[]; upTo: string | undefined }>;
  /** A transaction of a lane, under any relayer. */
  transactionOfLane(lane: string, id: string): Promise<Transaction | undefined>;
  /** A lane's due pending transactions with this kind of anchor, longest due first. */
  duePending(lane: string, kind: AnchorKind, now: Timestamp, limit: number): Promise<Transaction[]>;
  /** A lane's transactions that are signed but not final, with their attempts, in the order of acceptance. */
  openTransactions(lane: string): Promise<{ transaction: Transaction; attempts: Attempt[] }[]>;
  /** Pending transactions of all lanes that were never signed, at most `limit`. */
  unsigned(limit: number): Promise<Transaction[]>;
  unsignedCount(): Promise<number>;
  /** The place of the latest transaction in the order of acceptance; 0 when there is none. */
  latestAcceptance(): Promise<number>;
  /** The last tokens of the leases that nobody has, by their names. Empty where one process has all leases. */
  expiredLeases(now: Timestamp): Promise<Map<string, number>>;
  /** A lane's pending transactions that were accepted up to that place, in order. */
  pendingUpTo(lane: string, place: number): Promise<Transaction[]>;
  /** The same without their content, in no order: there may be a hundred thousand. */
  pendingIdsUpTo(lane: string, place: number): Promise<Pick<Transaction, 'id' | 'relayerId'>[]>;
  /** The lowest `nextActionAt` after the given moment of a lane's pending transactions. */
  nextPendingAt(lane: string, after: Timestamp): Promise<Timestamp | null>;
  /** The sequence after the highest that the lane's account has permanently used; null when it has used none. */
  settledSequence(lane: string): Promise<bigint | null>;
  /** The sequence after the highest that the lane's open or ended transactions use; null when they use none. */
  knownSequence(lane: string): Promise<bigint | null>;
  /** Number of one relayer's transactions that are not final: pending, sent and submitted. */
  pendingCount(relayerId: string): Promise<number>;
  /** Numbers of transactions by relayer and status, for statuses that are not final. Numbers of 0 are left out. */
  openCounts(): Promise<OpenCount[]>;
  lastConfirmedAt(relayerId: string): Promise<Timestamp | null>;

  /** The chain identity of a network, pinned at the first contact. */
  chainIdentity(type: NetworkType, network: string): Promise<string | undefined>;
  /** The same for the network of a relayer. */
  chainIdentityOfRelayer(relayerId: string): Promise<string | undefined>;

  /** Notifications that have a due event, including deleted notifications. */
  dueNotifications(now: Timestamp): Promise<string[]>;
  /** When the next event that is not due yet becomes due. */
  nextEventAt(now: Timestamp): Promise<Timestamp | null>;
  /** Number of events that have not ended. */
  waitingEvents(): Promise<number>;
  /** Deliveries, newest first. A notification's long history does not slow the query. */
  deliveries(
    notificationId: string,
    part: ListPartRequest,
    filter: DeliveryFilter,
  ): Promise<ListPart<ListedWebhookDelivery>>;
  /** One delivery, with the exact text that is signed and sent. */
  delivery(
    notificationId: string,
    id: string,
  ): Promise<(ListedWebhookDelivery & Pick<WebhookEvent, 'body'>) | undefined>;

  /** The JSON text of a plugin's value; undefined for an expired value. */
  kvGet(pluginId: string, key: string): Promise<string | undefined>;
  kvHas(pluginId: string, key: string): Promise<boolean>;
  /** A plugin's keys in byte order, without expired keys. */
  kvKeys(pluginId: string, page: KvPage): Promise<string[]>;
  kvUsage(pluginId: string): Promise<KvUsage>;

  /** The stored record of an effect. */
  effect(effect: KeyedEffect): Promise<StoredEffect | undefined>;
  /** The names of a keyed request's effects that happened, may have happened, or were refused. */
  effectNames(claimId: string): Promise<KeyedEffectName[]>;
  /** The journal of a keyed request's runs, in order. Pages may overlap; then they say the same. */
  journal(claimId: string): Promise<JournalEntry[]>;

  call(id: string): Promise<CallRecord | undefined>;
  callOfKey(keyId: string, key: string): Promise<CallRecord | undefined>;
  /** The calls of a plugin, newest first. */
  calls(pluginId: string, page: PageRequest, filter: CallFilter): Promise<Page<CallRecord>>;
  /** Calls that are to be run or looked at, longest due first. At most a hundred. Those of some plugins are left out. */
  dueCalls(now: Timestamp, except: readonly string[]): Promise<Pick<CallRecord, 'id' | 'pluginId'>[]>;
  /** When the next call that is not due yet becomes due. */
  nextCallAt(now: Timestamp): Promise<Timestamp | null>;
  /** Numbers of calls that have not ended, by state. */
  openCalls(): Promise<{ [State in CallState]?: number }>;
  /** The events that a call was sent, in order. */
  callEvents(callId: string): Promise<CallEvent[]>;
  /** What {@link StoreWriter.putBundle} stored of a version. */
  bundle(version: string): Promise<string | undefined>;

  /** The given transactions that count against a plugin's budget. */
  budgeted(transactionIds: readonly string[]): Promise<Set<string>>;
  /**
   * The amount that counts against a plugin's budget for a relayer now: transactions under way, and those that ended
   * within the last hour.
   */
  spentLastHour(pluginId: string, relayerId: string): Promise<ActualSpend>;
  /** When ended transactions free this amount. Null when they are too small for it, or when it takes very long. */
  freeFrom(
    budget: Pick<SpendingReservation, 'pluginId' | 'relayerId'>,
    part: keyof ActualSpend,
    needed: bigint,
  ): Promise<Timestamp | null>;

  /** Where all triggers stand that ever were declared. */
  triggers(): Promise<TriggerState[]>;
  triggersOf(pluginId: string): Promise<TriggerState[]>;
  /** Undefined until an instance has seen its declaration. */
  trigger(pluginId: string, name: string): Promise<TriggerState | undefined>;
  /** The calls of all triggers that have not ended. */
  openTriggerCalls(): Promise<TriggerCall[]>;
  /** How the last calls of a trigger ended that were made since the given moment, the latest first. */
  lastTriggerEnds(keyId: string, since: Timestamp, limit: number): Promise<CallState[]>;

  /** The database's record of its own past. */
  history(): Promise<StoreHistory>;
  /** What {@link StoreWriter.putRestoredFrom} stored for a lane; undefined: nothing. */
  restoredFrom(lane: string): Promise<bigint | null | undefined>;
}

/** The instance that takes a lock, and for how long. */
interface LockTaker {
  /** Identifies the instance, with a new value at each start. */
  owner: string;
  /** True when no other process uses the store. Locks of other owners are then free. */
  isAlone: boolean;
  forMs: number;
}

/** How many transactions of a relayer have a status. */
interface OpenCount {
  relayerId: string;
  networkType: NetworkType;
  status: TransactionStatus;
  count: number;
  /** When the oldest of these transactions was accepted. */
  oldestAt: Timestamp;
}

export interface StoreWriter extends StoreReader, SettingsWriter {
  insertTransaction(transaction: Transaction): Promise<void>;
  /**
   * Changes a transaction, if it still has the status that the caller saw.
   * @returns false when its status has changed; the transaction is then left unchanged
   * @throws when the state table does not allow the step
   */
  updateTransaction(id: string, seen: TransactionStatus, change: TransactionChange): Promise<boolean>;
  /**
   * Stores a signed attempt. Unique in (transaction, ordinal) and in (lane, hash).
   * @throws NoConflict when a living attempt of the transaction consumes something else, so that both could execute
   */
  insertAttempt(attempt: Attempt): Promise<void>;
  /** Notes when the attempt was accepted. Later calls change nothing. */
  attemptAccepted(transactionId: string, ordinal: number, taken: { at: Timestamp; by?: string | null }): Promise<void>;
  /** Notes that the attempt can never execute. Later calls change nothing. */
  attemptDied(transactionId: string, ordinal: number, at: Timestamp): Promise<void>;
  /** Notes that the sequence is permanently used. */
  settleSequence(lane: string, sequence: bigint): Promise<void>;
  insertDecision(transactionId: string, decision: Omit<Decision, 'at'>): Promise<void>;
  /** Stores an intent. Resolves with its position. */
  insertIntent(intent: Pick<Intent, 'transactionId' | 'lane' | 'action'>): Promise<number>;
  /** Notes the outcome of a waiting intent. `refusal` is null when it was carried out. */
  settleIntent(position: number, refusal: string | null): Promise<void>;
  /**
   * Deletes transactions that became final before the given moment, with their attempts, oldest first and at most
   * `limit`. Resolves with their number. Keeps transactions that an idempotency key names.
   */
  pruneTransactions(before: Timestamp, limit: number): Promise<number>;
  /**
   * Deletes events of transactions from before the given moment, oldest first and at most `limit`. Resolves with their
   * number. Keeps the latest event, and those that a trigger has still to decide about.
   */
  pruneTransactionEvents(before: Timestamp, limit: number): Promise<number>;
  /** Pins a network's chain. A second, different value is an error. */
  pinChainIdentity(type: NetworkType, network: string, identity: string): Promise<void>;
  /** Removes the network's pin to this chain. */
  unpinChainIdentity(type: NetworkType, network: string, identity: string): Promise<void>;

  /** Stores an event that is due at once. */
  insertEvent(event: NewWebhookEvent): Promise<void>;
  /**
   * Begins the delivery of due events, longest due first and at most `limit`. Of each subject it takes only the
   * earliest event that has not ended. The events become due again after `forMs`, unless {@link StoreWriter.settleEvent}
   * comes before.
   */
  claimEvents(notificationId: string, limit: number, forMs: number): Promise<WebhookEvent[]>;
  /**
   * Notes the outcome of a delivery. Later events of the subject become due when this event is next due, or now if it
   * has ended.
   * @returns false when the delivery was begun anew, or the event has ended: nothing was changed
   */
  settleEvent(event: WebhookEvent, report: WebhookDeliveryResult): Promise<boolean>;
  /** Makes events due now that become due within the given time. For a start, when no delivery can be under way. */
  resumeEvents(withinMs: number): Promise<void>;
  /** Makes an event due now, even if it has ended. Its earlier tries no longer count. */
  redeliver(notificationId: string, id: string): Promise<void>;
  /**
   * Deletes events that ended before the given moments (dead events have their own), oldest first and at most `limit`.
   * Resolves with their number.
   */
  pruneOutbox(before: { others: Timestamp; dead: Timestamp }, limit: number): Promise<number>;

  /**
   * Stores a JSON text for `forMs`, or without an end.
   * @returns the plugin's usage when the quota has no room for the value: nothing is written then
   */
  kvSet(
    pluginId: string,
    key: string,
    json: string,
    options?: { forMs?: number | undefined; quota?: KvQuota },
  ): Promise<KvUsage | undefined>;
  /** Resolves with true when the value existed. */
  kvDelete(pluginId: string, key: string): Promise<boolean>;
  /**
   * Deletes some values of a plugin, in key order, beginning right after the given key (all keys come after `''`).
   * @returns how many of the values had not expired, and the key after which to go on; `upTo` undefined when no value
   * is left
   */
  kvClear(pluginId: string, after: string): Promise<{ live: number; upTo: string | undefined }>;
  /**
   * Makes room: deletes at most `limit` expired values of a plugin, or counts its values anew. True when its usage
   * changed.
   */
  kvReclaim(pluginId: string, limit: number): Promise<boolean>;
  /** Deletes expired values and locks of all plugins, oldest first and at most `limit`. Resolves with their number. */
  kvPrune(limit: number): Promise<number>;

  /** Takes a lock of a plugin. Null when the lock is held. A lock becomes free when its time is over. */
  kvLock(pluginId: string, name: string, taker: LockTaker): Promise<KvLock | null>;
  /** Releases a lock. False when it is no longer held under this fence. */
  kvUnlock(pluginId: string, lock: KvLock): Promise<boolean>;
  /**
   * Returns one of these locks that is no longer held. The others stay held until the commit, even if their time ends.
   */
  kvLostLock(pluginId: string, locks: readonly KvLock[]): Promise<KvLock | undefined>;

  /** Begins a run of a keyed request, unless a run is under way or the request was answered. */
  claimKey(request: KeyedRequest, claimant: KeyClaimant): Promise<KeyClaimResult>;
  /** Restarts the time of these claims. Skips claims that another run has taken. */
  renewClaims(claims: readonly IdempotencyClaim[], forMs: number): Promise<void>;
  /**
   * Ends a run with the answer that every repeat gets from now on. With `onlyAfterEffects`, only if the run had an
   * effect. A scope keeps large answers up to `quotaBytes`; the oldest are deleted first, and their repeats get only
   * the status.
   * @returns false when no answer was kept, also because another run has taken the claim
   */
  keepAnswer(
    claim: IdempotencyClaim,
    answer: StoredAnswer,
    when: { onlyAfterEffects: boolean; quotaBytes?: number },
  ): Promise<boolean>;
  /**
   * Ends a run without an answer, so that the next repeat runs. Deletes the key if none of its runs had a lasting
   * effect.
   */
  leaveKey(claim: IdempotencyClaim): Promise<void>;
  /**
   * Notes an effect: in the commit in which it happens, or without an outcome before it happens, or as refused. The
   * transaction that it names is kept as long as the key.
   * @throws DuplicateRecord; AppError `IDEMPOTENCY_RUNNING` when another run has taken the claim, or the claim was left
   * and forgotten
   */
  insertEffect(effect: KeyedEffect, note: EffectNote): Promise<void>;
  /** Deletes an effect that was begun and did not happen. */
  forgetEffect(effect: KeyedEffect): Promise<void>;
  /** Notes the result of an effect that was begun. */
  settleEffect(effect: KeyedEffect, note: Pick<EffectNote, 'outcome' | 'failure' | 'quotaBytes'>): Promise<void>;
  /**
   * Accepts a durable call, due at once.
   * @returns false when the caller has used the key
   */
  insertCall(call: NewCall): Promise<boolean>;
  /**
   * Begins a run of a call that is due, also of one whose run was not renewed in time. Its first run sets its version.
   * Undefined when it is not due. The run of an earlier claim has no effect any more.
   */
  claimCall(id: string, claimant: { forMs: number; version: string | null }): Promise<CallRecord | undefined>;
  /** Restarts the time of these claims. Resolves with the ids of those that no other run has taken. */
  renewCalls(claims: readonly IdempotencyClaim[], forMs: number): Promise<string[]>;
  /** Makes running calls due at once. For a start, when no run can be under way. */
  resumeCalls(): Promise<void>;
  /**
   * Ends a run whose call waits. It is due again after `inMs`, or at once when it was sent more than `events` events.
   * @returns false when another run has taken the call, or it has ended
   */
  suspendCall(claim: IdempotencyClaim, pause: CallPause): Promise<boolean>;
  /**
   * Ends a call with its run.
   * @returns false when another run has taken the call, or it has ended
   */
  endCall(
    claim: IdempotencyClaim,
    end: { state: CallEnd; ending: CallEnding | null; deaths: number; entry?: JournalEntry | undefined },
  ): Promise<boolean>;
  /** Ends a call whatever its run does. False when it has ended. */
  stopCall(id: string, state: CallEnd, ending: CallEnding | null): Promise<boolean>;
  /**
   * Makes a call that did not return due again, with the beginning of its journal and without the refusals that came
   * after it. False when it is open or has returned.
   */
  retryCall(
    id: string,
    how: { lifetimeMs: number; keepUpTo: JournalPage | undefined; forget: readonly KeyedEffectName[] },
  ): Promise<boolean>;
  /** Sends an event to a call, and has the call looked at if it waits. */
  insertCallEvent(callId: string, event: CallEvent): Promise<'stored' | 'ended' | 'full'>;
  /** Has a waiting call looked at now. */
  wakeCall(id: string): Promise<void>;
  /** Has a due call looked at again later; it is not run meanwhile. Skips a call that is not due. */
  postponeCall(id: string, inMs: number, waitsFor?: readonly CallWait[]): Promise<void>;
  /**
   * Deletes calls that ended before the given moment, oldest first and at most `limit`. Resolves with their number.
   * Their keys, effects and journals go with {@link pruneKeys}.
   */
  pruneCalls(before: Timestamp, limit: number): Promise<number>;
  /** Stores a version of a plugin, or notes that it is in use. */
  putBundle(version: string, pluginId: string, content: string): Promise<void>;
  /** Deletes versions that no call has, and that were not in use since the given moment. Resolves with their number. */
  pruneBundles(before: Timestamp, limit: number): Promise<number>;

  /**
   * Deletes keys that were first used before the given moment, with their effects, oldest first and at most `limit`.
   * Resolves with their number. Keeps keys that are running or name a transaction that is not final.
   */
  pruneKeys(before: Timestamp, limit: number): Promise<number>;

  /**
   * Reserves the amounts that a transaction can move and cost, in the commit that accepts it. They count from now until
   * an hour after it has ended.
   * @returns what the budget lacks; nothing is reserved then
   */
  reserveSpending(reservation: SpendingReservation): Promise<BudgetShortage | undefined>;
  /**
   * Raises a transaction's reservation to the amounts that its next version can take, before that version is signed.
   * Skips a transaction that no budget counts. Only the fee must stay within its limit, and not even the fee with
   * `mayExceed`.
   * @returns what the budget lacks; nothing is raised then
   */
  raiseSpending(ask: SpendingRaise): Promise<(BudgetShortage & { pluginId: string }) | undefined>;
  /** Notes what ended transactions took, in the commit in which they end. Skips transactions that no budget counts. */
  settleSpending(ended: readonly (ActualSpend & { transactionId: string })[]): Promise<void>;
  /** Adds at most `limit` ended transactions to the sums of a budget. Resolves with their number. */
  foldSpending(pluginId: string, relayerId: string, limit: number): Promise<number>;

  /**
   * Deletes audit records of transactions and signatures from before the given moment, oldest first and at most
   * `limit`. Resolves with their number. Keeps records of changes of settings.
   */
  pruneAudit(before: Timestamp, limit: number): Promise<number>;

  putTrigger(state: TriggerState): Promise<void>;
  /** Notes a webhook's delivery for a trigger. @returns false when it was noted before */
  insertTriggerDelivery(keyId: string, delivery: string): Promise<boolean>;
  /** Deletes deliveries from before the given moment, oldest first and at most `limit`. Resolves with their number. */
  pruneTriggerDeliveries(before: Timestamp, limit: number): Promise<number>;

  putHistory(history: Pick<StoreHistory, 'epochs' | 'place'>): Promise<void>;
  /** Stores the mark of the instance with this data folder. */
  putMark(folder: string, mark: InstanceProgress): Promise<void>;
  /** Stores what an operator has released; null: nothing. */
  putRelease(release: UnsignedRelease | null): Promise<void>;
  /**
   * Stores the sequence that a lane's store led to when transactions of it were found that have to be compared with the
   * chain; null where it led to none. Undefined removes it: nothing has to be compared any more.
   */
  putRestoredFrom(lane: string, from: bigint | null | undefined): Promise<void>;
}

/** The amounts that the next version of a transaction can take. */
export interface SpendingRaise extends ActualSpend {
  transactionId: string;
  mayExceed: boolean;
}

/** How a run ends whose call waits. */
export interface CallPause {
  waitsFor: readonly CallWait[];
  inMs: number;
  /** How many events the run knows of. */
  events: number;
  deaths: number;
  entry?: JournalEntry | undefined;
}

/** The stored result of a keyed request's effect. Without an outcome or a failure, the result is unknown. */
export interface StoredEffect {
  /** The transaction that the effect made, or is about. */
  transactionId: string | null;
  outcome?: Json;
  /** The refusal that the run got when it asked for the effect. */
  failure?: Json;
}

/** The fields to store for an effect. Empty while the result is not known. */
interface EffectNote {
  transactionId?: string;
  outcome?: Json;
  failure?: Json;
  /**
   * True for an effect that leaves nothing behind when its run ends. If the run has only such effects, the key may be
   * used again.
   */
  leavesNothing?: boolean;
  /** Most bytes that the effect's scope may keep. An outcome that exceeds them is not kept. */
  quotaBytes?: number;
}

/** The instance that asks to run a keyed request. */
export interface KeyClaimant {
  /** Id for the claim, if the key is new. */
  id: string;
  /** Identifies the instance, with a new value at each start. */
  owner: string;
  /** How long the claim lasts without renewal. */
  forMs: number;
  /** True when no other process uses the store. Runs of other owners are then over. */
  isAlone: boolean;
}

/** The answer to a request to run a keyed request. */
export type KeyClaimResult =
  | { kind: 'claimed'; claim: IdempotencyClaim }
  | { kind: 'running' }
  | { kind: 'answered'; answer: StoredAnswer }
  | { kind: 'other-request' };

/** What a database stores about its own past. A copy of it has the same history until it is written to. */
export interface StoreHistory {
  /**
   * The epochs, the latest last. A new one begins when a copy was put back and an operator has said what that means.
   * Empty: the database was never in use.
   */
  epochs: readonly string[];
  /** Where the database was when it was written to last (`Store.place`). */
  place: string | null;
  /** How far each instance came, by the id of its data folder. */
  marks: ReadonlyMap<string, InstanceProgress>;
  /** What an operator has released; null when nothing. */
  release: UnsignedRelease | null;
}

/**
 * An operator's word that what was accepted and not signed in a restored database was not sent either. It holds for the
 * first start after it, and only for a while, so that the next restored copy is not covered by it.
 */
export interface UnsignedRelease {
  /** The place of the last transaction that it covers, in the order of acceptance. */
  upTo: number;
  /** By the store's clock; null until an instance has started. */
  endsAt: number | null;
}

/** How far an instance came. The count rises as long as the instance runs; no other instance changes it. */
export interface InstanceProgress {
  count: number;
  /** By the store's clock; 0 when the instance ended in good order. */
  at: number;
}
