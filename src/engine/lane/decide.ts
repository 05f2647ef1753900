import { isDeepStrictEqual } from 'node:util';
import type { Chain } from '../../chains/chain.ts';
import type {
  BroadcastOutcome,
  RefusedPreparation,
  ReplacementSpec,
  TransactionObservation,
  TransactionPreparation,
} from '../../chains/chain-client.ts';
import { type Attempt, livingAttempts } from '../../features/transactions/records/attempt.ts';
import { isDueAt } from '../../features/transactions/records/lane.ts';
import type { DecisionKind } from '../../features/transactions/records/timeline-decision.ts';
import type { Timestamp, Transaction, TransactionChange } from '../../features/transactions/records/transaction.ts';
import type { NoopEndStatus } from '../../features/transactions/records/transaction-state.ts';
import { backOff, type EngineTiming, nextLookAt } from '../timing.ts';
import type { BroadcastHistory, ParkCause } from './broadcast-history.ts';
import type { PoolWatch } from './lane-memory.ts';
import type { LaneChange, OpenTransaction } from './ledger.ts';
import type { OpenTransactions } from './open-transactions.ts';
import type { RestoredLane } from './restored-lane.ts';

/*
 * What a lane does about its signed transactions. All of it is decided here, from what is given, without asking anybody
 * and without changing anything; `carry-out.ts` does what was decided.
 */

/** A lane as it is now: its open transactions, and what it remembers of nodes and blocks. */
export interface LaneState {
  readonly chain: Pick<Chain, 'placeOf' | 'renewedFields' | 'sequence'>;
  readonly open: Pick<OpenTransactions, 'entries' | 'bySequence'>;
  readonly memory: {
    readonly offers: Pick<
      BroadcastHistory,
      | 'anotherFor'
      | 'causeOf'
      | 'failuresOf'
      | 'hasAnswer'
      | 'isHopeless'
      | 'isMissing'
      | 'isResting'
      | 'isStale'
      | 'isTurnedAway'
      | 'isUnproved'
      | 'wasNotTaken'
      | 'wasTurnedAway'
    >;
    readonly pool: Pick<PoolWatch, 'standsFor'>;
    readonly restored: Pick<RestoredLane, 'mustCompare'>;
    readonly newestInBlock: { sequence: bigint; signedAt: Timestamp } | null;
  };
  readonly timing: EngineTiming;
}

export interface Moment {
  /** By the store's clock. */
  now: Timestamp;
  /** On a clock that never goes back, in milliseconds. */
  elapsed: number;
  /** In [0, 1), for pauses. */
  random(): number;
}

type Seen = TransactionObservation | 'not asked';

/** A transaction whose present attempts can be replaced by one more. */
export interface Prospect {
  /** How long the network has been silent about the latest attempt; null while no node is known to have it. */
  silentForMs: number | null;
  /** How long it may be silent before a dearer attempt is signed; null: for ever. */
  patienceMs: number | null;
}

/** An attempt to sign, and what is committed together with it. */
export interface WantedAttempt {
  transaction: Transaction;
  /** The transaction's attempts until now. */
  earlier: readonly Attempt[];
  /** `send`: what the transaction asks for, under a new anchor. The others keep the anchor of the attempts before. */
  spec: { purpose: 'send' } | ReplacementSpec;
  /** Why one more attempt is signed. */
  kind?: DecisionKind;
  /** Position of the intent that the attempt carries out. */
  settles?: number;
  set?: Pick<TransactionChange, 'validUntil'>;
  /** The sequence of a gap that the attempt fills. The transaction is the engine's own and not stored yet. */
  fills?: bigint;
}

/** What became of a wanted attempt: signed and stored, or why not. */
export type SigningOutcome =
  | { kind: 'signed' }
  | RefusedPreparation
  | { kind: 'parked'; reason: string; cause: ParkCause; retryInMs?: number }
  | Extract<TransactionPreparation, { kind: 'first' }>
  /** `withinMs`: when to try again at the latest. */
  | { kind: 'failed'; reason: string; withinMs?: number | undefined }
  /** The attempt was not made in this step. The next step tries again. */
  | { kind: 'later' };

/** What was asked for in this step. Each kind leads to commands of its own. */
export type Facts =
  /** Nothing: which transactions are to be looked for on the chain? */
  | { kind: 'time' }
  /** What the chain shows of the transactions that were looked for. */
  | { kind: 'observed'; seen: readonly (readonly [OpenTransaction, Seen])[] }
  /** The ids of the transactions whose time is over. */
  | { kind: 'expired'; ids: ReadonlySet<string> }
  /** By the transaction's id; none of what no attempt can replace now. */
  | { kind: 'prospects'; of: ReadonlyMap<string, Prospect> }
  /** What became of attempts that were to be signed. */
  | { kind: 'signing'; outcomes: readonly (readonly [WantedAttempt, SigningOutcome])[] }
  /** Nothing: which stored bytes are to be offered? */
  | { kind: 'pools' }
  /** What nodes said of the bytes that they were offered. */
  | { kind: 'answers'; outcomes: readonly (readonly [OpenTransaction, BroadcastOutcome])[] }
  /** `entries` were not offered, because nodes have no room for one before them. */
  | { kind: 'no room'; blocker: Transaction; entries: readonly OpenTransaction[] }
  /** The sequences that the account waits for, and those far above them. */
  | {
      kind: 'gaps';
      /** The relayer that waits above the gaps. */
      relayerId: string;
      free: readonly bigint[];
      beyond: readonly bigint[];
      expired: ReadonlySet<string>;
    };

/** What the lane is to do. `change` is committed; what the lane remembers follows from the verb. */
export type LaneCommand =
  /** Look for it on the chain now. */
  | { do: 'observe'; entry: OpenTransaction }
  /** Look again later. `isFree`: the chain shows its sequence as free. */
  | { do: 'wait'; change: LaneChange; isFree?: boolean }
  /** A node named a hash that is not ours. */
  | { do: 'ignore'; change: LaneChange; hash: string }
  /** Its sequence is used, nobody can prove by what. `isUnresolved`: for so long that only looking for it can help. */
  | { do: 'keepOpen'; change: LaneChange; isUnresolved: boolean; reason: string }
  /** It seems dead, but a restored store may have forgotten the attempt that executed. */
  | { do: 'compare'; change: LaneChange; attempts: readonly Attempt[] }
  /** A reorganisation took its block. */
  | { do: 'reopen'; change: LaneChange }
  /** Some of its attempts are dead. */
  | { do: 'expireAttempts'; change: LaneChange }
  /** All of its attempts are dead. It ends, or is signed anew. */
  | { do: 'endOrRenew'; change: LaneChange; anchor: 'used' | 'free'; reason: string }
  /** One of its attempts is in a block. */
  | { do: 'include'; change: LaneChange; attempt: Attempt; isFinal: boolean }
  /** It is to have no effect any more, because its time is over. From now on only a noop is offered. */
  | { do: 'expire'; change: LaneChange }
  /** The same, because it cannot get into a block. */
  | { do: 'giveUp'; change: LaneChange }
  /** Sign an attempt with the same content and a higher price. */
  | { do: 'bump'; wanted: WantedAttempt }
  /** Sign an attempt that only uses up the anchor. */
  | { do: 'cancel'; wanted: WantedAttempt }
  /** Offer the latest attempt's bytes. */
  | { do: 'rebroadcast'; entry: OpenTransaction }
  /** Offer them later: `below` waits for room in the pools. */
  | { do: 'holdBack'; entry: OpenTransaction; below: OpenTransaction | undefined }
  | { do: 'noteHeldBack'; change: LaneChange }
  /** A node took the bytes. */
  | { do: 'noteTaken'; change: LaneChange }
  /** None did. They are offered again after a pause. */
  | { do: 'retry'; change: LaneChange; outcome: Exclude<BroadcastOutcome, { kind: 'accepted' }>; isFirst: boolean }
  /** No further attempt before `until`, on the clock that never goes back. */
  | { do: 'rest'; transaction: Transaction; until: number }
  /** The same, with the cause for which the transaction waits. */
  | { do: 'park'; transaction: Transaction; cause: ParkCause; until: number; change?: LaneChange }
  /** It ends beyond the reach of its account, and leaves its sequence. */
  | { do: 'strand'; change: LaneChange }
  /** Sign a noop under a sequence that the account waits for and no transaction holds. */
  | { do: 'fillGap'; relayerId: string; sequence: bigint };

/** What follows from facts in this state. Changes nothing. */
export function decide(lane: LaneState, facts: Facts, at: Moment): LaneCommand[] {
  switch (facts.kind) {
    case 'time':
      return dueForLook(lane, at).map((entry) => ({ do: 'observe', entry }));
    case 'observed':
      return onLook(lane, facts.seen, at);
    case 'expired':
      return unmined(lane, at).flatMap((entry) => withdrawal(lane, entry, facts.ids.has(entry.transaction.id), at));
    case 'prospects':
      return dueReplacements(lane, facts.of, at);
    case 'signing':
      return facts.outcomes.flatMap(([wanted, outcome]) => onUnsigned(lane, wanted, outcome, at));
    case 'pools':
      return offersNow(lane, at);
    case 'answers':
      return facts.outcomes.map(([entry, outcome]) => onAnswer(lane, entry, outcome, at));
    case 'no room':
      return facts.entries.filter(isOrdered).map((entry) => onNoRoom(lane, entry, facts.blocker));
    case 'gaps':
      return [
        ...unmined(lane, at)
          .filter(({ transaction: { sequence } }) => sequence !== null && facts.beyond.includes(sequence))
          .flatMap((entry) => onBeyondReach(lane, entry, facts.expired.has(entry.transaction.id), at)),
        ...facts.free.map((sequence): LaneCommand => ({ do: 'fillGap', relayerId: facts.relayerId, sequence })),
      ];
    default:
      return facts satisfies never;
  }
}

// What a transaction is.

/** The open transactions that are in no block but still can be, by sequence. */
export function unmined(
  lane: Pick<LaneState, 'open' | 'memory' | 'timing'>,
  at: { elapsed: number },
): OpenTransaction[] {
  const isSigned = ({ transaction: { status } }: OpenTransaction) => status === 'sent' || status === 'submitted';
  return lane.open.bySequence.filter((entry) => isSigned(entry) && !isUnresolved(lane, entry, at));
}

/**
 * Whether the transaction's sequence has been used for a while and nobody can prove by which transaction. One of its
 * own attempts may have used it, so it stays open. But no offer and no further attempt can change anything, and nothing
 * else waits for it.
 */
function isUnresolved(
  { memory, timing }: Pick<LaneState, 'memory' | 'timing'>,
  { transaction }: OpenTransaction,
  { elapsed }: { elapsed: number },
): boolean {
  return memory.offers.isUnproved(transaction.id, elapsed, timing.unprovedMs);
}

/** The latest attempt. It stands for the transaction now. */
export function latestAttemptOf({ attempts }: Pick<OpenTransaction, 'attempts'>): Attempt | undefined {
  return attempts.at(-1);
}

/** Whether a node has had an attempt of the transaction that can still be in a block. */
function isPlaced({ transaction, attempts }: OpenTransaction): boolean {
  return transaction.status !== 'sent' || livingAttempts(attempts).some(({ acceptedAt }) => acceptedAt !== null);
}

/** Whether the latest attempt is to get into a block. For a transaction that is to have no effect, only a noop is. */
export function mayBeOffered(entry: OpenTransaction): boolean {
  return entry.transaction.noopEnd === null || latestAttemptOf(entry)?.purpose === 'noop';
}

/** Whether the transaction gets into a block only after lower sequences, and no node has it. */
export function isOrdered(entry: OpenTransaction): boolean {
  return entry.transaction.anchorKind === 'sequence' && latestAttemptOf(entry)?.acceptedAt === null;
}

/** Whether the engine has to look at the transaction now. */
function isDue({ transaction }: OpenTransaction, { now }: { now: Timestamp }): boolean {
  return isDueAt(transaction.nextActionAt, now);
}

/**
 * Whether a waiting transaction counts against the lane's limit. Two kinds do not count. One can never die by itself.
 * The other uses another account's sequence and nodes turn it away: they take one at a time for an account.
 */
export function isCounted({ memory }: Pick<LaneState, 'memory'>, entry: OpenTransaction): boolean {
  const { id, onDeath, anchorKind } = entry.transaction;
  if (onDeath === 'never') return false;
  return anchorKind !== 'text' || isPlaced(entry) || !memory.offers.wasTurnedAway(id);
}

/** Whether nodes did not take some transaction, perhaps because a lower sequence is missing, and it is due again. */
export function isAnyMissing(lane: LaneState, at: Moment): boolean {
  return unmined(lane, at).some(
    (entry) => !isPlaced(entry) && isDue(entry, at) && lane.memory.offers.wasNotTaken(entry.transaction.id),
  );
}

/** What ended, for `status_reason`. */
export function expiryReason({ validUntil }: Transaction): string {
  return validUntil === null ? 'Its lifetime passed' : 'valid_until passed';
}

/** The change by which a transaction is to have no effect any more. */
export function withdrawn(
  transaction: Transaction,
  noopEnd: NoopEndStatus,
  kind: DecisionKind,
  reason: string,
  now: Timestamp,
): LaneChange {
  const set = { noopEnd, statusReason: reason, nextActionAt: now };
  return { transaction, set, decision: { kind, text: reason } };
}

// What the chain shows.

/**
 * The due transactions that a node has, whose sequence is used, or that are no longer offered. In the last two cases
 * only the chain can show the end, even if no node is known to have them.
 */
function dueForLook(lane: LaneState, at: Moment): OpenTransaction[] {
  return [...lane.open.entries.values()].filter(
    (entry) => isDue(entry, at) && (isPlaced(entry) || isUnresolved(lane, entry, at) || !mayBeOffered(entry)),
  );
}

/** A moment, and for how long no block has taken a transaction of the lane; infinite while none ever did. */
type Look = Moment & { quietMs: number };

function onLook(lane: LaneState, all: readonly (readonly [OpenTransaction, Seen])[], at: Moment): LaneCommand[] {
  const isMoving = all.some(
    ([{ transaction }, seen]) => seen !== 'not asked' && seen.kind === 'included' && transaction.status !== 'mined',
  );
  const quietMs = isMoving ? 0 : (lane.memory.pool.standsFor(at.elapsed) ?? Number.POSITIVE_INFINITY);
  return all.map(([entry, seen]) => onObserved(lane, entry, seen, { ...at, quietMs }));
}

function onObserved(lane: LaneState, entry: OpenTransaction, seen: Seen, at: Look): LaneCommand {
  if (seen === 'not asked') return { do: 'wait', change: lookAgain(lane, entry.transaction, at) };
  const isMined = entry.transaction.status === 'mined';
  switch (seen.kind) {
    case 'open':
      if (isMined) return reopen(lane, entry, at);
      if (seen.reason !== undefined) return keepOpen(lane, entry, seen.reason, at);
      return expireAttempts(lane, entry, new Set(seen.dead), at);
    case 'dead':
      // A mined transaction first goes back to `submitted`, from where it can be signed again. The next look finds it
      // dead once more.
      return isMined ? reopen(lane, entry, at) : endOrRenew(lane, entry, seen, at);
    case 'included':
      return include(lane, entry, seen, at);
    default:
      return seen satisfies never;
  }
}

/**
 * Sets when to look at a transaction again. Keeps the pause that a failed offer set in this step. A transaction that a
 * node took long ago stays due, so that it is offered again.
 */
function lookAgain(
  { memory, timing }: LaneState,
  transaction: Transaction,
  { now, elapsed, quietMs }: Look,
): LaneChange {
  const { id, status, nextActionAt, sentAt, createdAt } = transaction;
  if (nextActionAt !== null && !isDueAt(nextActionAt, now)) return { transaction, set: {} };
  const silent = status === 'submitted' && memory.offers.isStale(id, elapsed, timing.reofferMs);
  // While blocks take the lane's transactions, the others are looked for at that pace, however old they are.
  const quiet = Math.min(now - (sentAt ?? createdAt), quietMs);
  return { transaction, set: { nextActionAt: silent ? now : nextLookAt(now, now - quiet, timing) } };
}

/**
 * Handles a transaction whose sequence is used, or whose time is over, while the endpoints cannot prove how it ended.
 * One of its own attempts may have taken effect, so it neither ends nor goes out under another sequence. Mostly an
 * endpoint only lags, and this is soon over. If it lasts, the transaction says why and is looked for less often.
 */
function keepOpen(lane: LaneState, entry: OpenTransaction, reason: string, at: Look): LaneCommand {
  const { transaction } = entry;
  if (!isUnresolved(lane, entry, at))
    return { do: 'keepOpen', change: lookAgain(lane, transaction, at), isUnresolved: false, reason };
  const isNew = lane.memory.offers.causeOf(transaction.id) !== 'sequence';
  const why = transaction.noopEnd === null ? { statusReason: reason } : {};
  const set = { ...why, nextActionAt: at.now + lane.timing.unresolvedLookMs };
  const change = { transaction, set, ...(isNew && { decision: { kind: 'parked', text: reason } as const }) };
  return { do: 'keepOpen', change, isUnresolved: true, reason };
}

/** The bytes are offered again at once, and the latest attempt stands for the transaction again. */
function reopen({ chain }: LaneState, entry: OpenTransaction, at: Moment): LaneCommand {
  const { transaction } = entry;
  const latest = latestAttemptOf(entry);
  const content = latest === undefined ? {} : { ...contentOf(transaction, latest), fields: latest.fields };
  const statusReason = transaction.noopEnd === null ? null : transaction.statusReason;
  const text = `${transaction.hash} is no longer in ${chain.placeOf?.(transaction) ?? 'a block'}`;
  const set = { status: 'submitted', statusReason, ...content, nextActionAt: at.now } as const;
  return { do: 'reopen', change: { transaction, set, decision: { kind: 'reorganised', text } } };
}

/** Marks dead attempts. When all attempts are dead, the transaction is dead too. */
function expireAttempts(lane: LaneState, entry: OpenTransaction, dead: ReadonlySet<number>, at: Look): LaneCommand {
  const living = livingAttempts(entry.attempts);
  const died = living.filter(({ ordinal }) => dead.has(ordinal));
  const change = lookAgain(lane, entry.transaction, at);
  if (died.length === 0) return { do: 'wait', change, isFree: true };
  if (died.length === living.length)
    return endOrRenew(lane, entry, { anchor: 'free', reason: 'Its time to be in a block passed' }, at);
  const ordinals = died.map(({ ordinal }) => ordinal);
  return { do: 'expireAttempts', change: { ...change, died: { ordinals, at: at.now } } };
}

/**
 * Handles a transaction of which no attempt can execute any more. One that is to have no effect ends. One that only the
 * service signs becomes pending again, to be signed under another anchor. One that others have signed as well ends,
 * because the service alone cannot sign it again.
 */
function endOrRenew(
  lane: LaneState,
  { transaction, attempts }: OpenTransaction,
  { anchor, reason }: Pick<Extract<TransactionObservation, { kind: 'dead' }>, 'anchor' | 'reason'>,
  at: Look,
): LaneCommand {
  const { id, noopEnd, onDeath, statusReason } = transaction;
  if (onDeath === 'end' && anchor === 'used' && lane.memory.restored.mustCompare(id, attempts))
    return { do: 'compare', change: lookAgain(lane, transaction, at), attempts };
  const died = { ordinals: livingAttempts(attempts).map(({ ordinal }) => ordinal), at: at.now };
  const isRenewed = noopEnd === null && onDeath === 'renew';
  const ended: TransactionChange = {
    status: noopEnd ?? (anchor === 'used' ? 'failed' : 'expired'),
    statusReason: noopEnd === null ? reason : statusReason,
    // An unused sequence is free for another transaction.
    ...(anchor === 'free' && { sequence: null }),
    nextActionAt: null,
  };
  const renewed: TransactionChange = {
    status: 'pending',
    statusReason: reason,
    sequence: null,
    hash: null,
    fields: lane.chain.renewedFields?.(transaction.fields) ?? {},
    nextActionAt: at.now,
  };
  const decision = { kind: 'dead', text: reason } as const;
  const change = { transaction, set: isRenewed ? renewed : ended, died, decision };
  return { do: 'endOrRenew', change, anchor, reason };
}

type Included = Extract<TransactionObservation, { kind: 'included' }>;

function include(lane: LaneState, { transaction, attempts }: OpenTransaction, seen: Included, at: Look): LaneCommand {
  const attempt = attempts.find(({ hash }) => hash === seen.hash);
  if (attempt === undefined) return { do: 'ignore', change: lookAgain(lane, transaction, at), hash: seen.hash };
  const { now } = at;
  const shown = {
    ...contentOf(transaction, attempt),
    fields: { ...attempt.fields, ...seen.fields },
    statusReason: reasonIn(transaction, attempt, seen),
    sentAt: transaction.sentAt ?? now,
  };
  const accepted = attempt.acceptedAt === null ? { accepted: { ordinal: attempt.ordinal, at: now } } : {};
  if (seen.final) {
    const set = { ...shown, ...endIn(transaction, attempt, seen, now), nextActionAt: null };
    return { do: 'include', change: { transaction, set, isExecuted: true, ...accepted }, attempt, isFinal: true };
  }
  const status = transaction.status === 'mined' ? {} : ({ status: 'mined' } as const);
  const set = { ...shown, ...status, nextActionAt: nextLookAt(now, shown.sentAt, lane.timing) };
  const place = lane.chain.placeOf?.({ ...transaction, ...set });
  const isNews = place !== undefined && place !== lane.chain.placeOf?.(transaction);
  const text = `Attempt ${attempt.ordinal}, ${attempt.hash}, is in ${place}`;
  const change = { transaction, set, ...accepted, ...(isNews && { decision: { kind: 'mined', text } as const }) };
  return { do: 'include', change, attempt, isFinal: false };
}

/**
 * The hash and the request of the attempt that counts: the API shows these. Leaves out an unchanged request, as most
 * transactions were never replaced.
 */
function contentOf({ request }: Transaction, attempt: Attempt): Pick<TransactionChange, 'hash' | 'request'> {
  return { hash: attempt.hash, ...(isDeepStrictEqual(attempt.request, request) ? {} : { request: attempt.request }) };
}

function reasonIn(
  { noopEnd, statusReason }: Transaction,
  { purpose }: Attempt,
  { succeeded, reason, final }: Included,
) {
  if (purpose === 'noop' && noopEnd !== null) return statusReason;
  if (succeeded) return null;
  return final ? reason : `Failed in its block, not final yet: ${reason}`;
}

/** A noop has done its work even when it reverts: its sequence is used. */
function endIn(
  { noopEnd }: Transaction,
  { purpose }: Attempt,
  { succeeded }: Included,
  now: number,
): Pick<TransactionChange, 'status' | 'confirmedAt'> {
  if (purpose === 'noop' && noopEnd !== null) return { status: noopEnd };
  return succeeded ? { status: 'confirmed', confirmedAt: now } : { status: 'failed' };
}

// When there is to be another attempt.

/** Withdraws a transaction that has expired or that no node will take. */
function withdrawal(lane: LaneState, { transaction }: OpenTransaction, isExpired: boolean, at: Moment): LaneCommand[] {
  if (transaction.noopEnd !== null) return [];
  if (isExpired) {
    const reason = `${expiryReason(transaction)} before it was in a block`;
    return [{ do: 'expire', change: withdrawn(transaction, 'expired', 'expired', reason, at.now) }];
  }
  if (!isRefusedForGood(lane, transaction.id, at)) return [];
  return [giveUp(transaction, `No node takes it: ${transaction.statusReason ?? 'refused'}`, at)];
}

function giveUp(transaction: Transaction, reason: string, at: Moment): LaneCommand {
  return { do: 'giveUp', change: withdrawn(transaction, 'failed', 'refused', reason, at.now) };
}

/**
 * Whether no node will ever take the latest attempt. A refusal of a figure is no end: another attempt is made first,
 * and where none can be made, {@link onUnsigned} ends the transaction.
 */
function isRefusedForGood({ memory: { offers }, timing }: LaneState, id: string, { elapsed }: Moment): boolean {
  if (offers.isTurnedAway(id, elapsed, timing.turnedAwayMs)) return true;
  return offers.anotherFor(id) === undefined && offers.isHopeless(id, elapsed, timing.refusalMs);
}

/**
 * One more attempt for each transaction that is in no block and needs it. A transaction that has expired, was canceled
 * or is refused by every node gets a noop. One that the network is silent about gets a dearer attempt. Noops come
 * first. A batch at most, so that clients' requests are looked at before the next batch.
 */
function dueReplacements(lane: LaneState, prospects: ReadonlyMap<string, Prospect>, at: Moment): LaneCommand[] {
  const waiting = waitingForLower(lane, at);
  const due = unmined(lane, at).flatMap((entry): LaneCommand[] => {
    const { transaction, attempts: earlier } = entry;
    const prospect = prospects.get(transaction.id);
    if (prospect === undefined || lane.memory.offers.isResting(transaction.id, at.elapsed)) return [];
    const spec = dueReplacement(lane, entry, prospect, at);
    if (spec === undefined || (spec.purpose === 'bump' && waiting.has(entry))) return [];
    return spec.purpose === 'noop'
      ? [{ do: 'cancel', wanted: { transaction, earlier, spec, kind: 'noop-signed' } }]
      : [{ do: 'bump', wanted: { transaction, earlier, spec, kind: 'bumped' } }];
  });
  const isBump = (command: LaneCommand) => Number(command.do === 'bump');
  return due.toSorted((one, other) => isBump(one) - isBump(other)).slice(0, lane.timing.batch);
}

function dueReplacement(
  { memory: { offers }, timing }: LaneState,
  entry: OpenTransaction,
  { silentForMs, patienceMs }: Prospect,
  { elapsed }: Moment,
): ReplacementSpec | undefined {
  const { id } = entry.transaction;
  const purpose = nextPurposeOf(entry);
  if (purpose === undefined) return undefined;
  if (purpose === 'noop' && latestAttemptOf(entry)?.purpose !== 'noop') return { purpose };
  const another = offers.anotherFor(id);
  // What nodes said of the latest attempt, where they want another.
  const refusal = another?.refusal === undefined ? {} : { refusal: another.refusal };
  // Only a noop can take the sequence, so a refused one is made again.
  if (purpose === 'noop' && offers.isHopeless(id, elapsed, timing.refusalMs))
    return { purpose, isRefused: true, ...refusal };
  const isOverdue = silentForMs !== null && patienceMs !== null && silentForMs >= patienceMs;
  return another === undefined && !isOverdue ? undefined : { purpose, ...refusal };
}

/** What a further attempt would be for. */
export function nextPurposeOf(entry: OpenTransaction): 'bump' | 'noop' | undefined {
  const latest = latestAttemptOf(entry);
  if (latest === undefined) return undefined;
  return entry.transaction.noopEnd !== null || latest.purpose === 'noop' ? 'noop' : 'bump';
}

/**
 * Transactions that wait for a lower sequence: it is missing, or no node has taken its transaction. No price brings
 * them into a block before that.
 */
function waitingForLower(lane: LaneState, at: Moment): Set<OpenTransaction> {
  const waiting = new Set<OpenTransaction>();
  let [next, isBlocked]: [bigint | null, boolean] = [null, false];
  for (const entry of lane.open.bySequence) {
    const { sequence, status } = entry.transaction;
    if (sequence === null || isUnresolved(lane, entry, at)) continue;
    isBlocked ||= next !== null && sequence > next;
    if (isBlocked) waiting.add(entry);
    isBlocked ||= status !== 'mined' && latestAttemptOf(entry)?.acceptedAt === null;
    next = sequence + 1n;
  }
  return waiting;
}

/** What follows for a transaction whose further attempt was not signed. */
function onUnsigned(lane: LaneState, wanted: WantedAttempt, outcome: SigningOutcome, at: Moment): LaneCommand[] {
  const { transaction, spec } = wanted;
  const { offers } = lane.memory;
  if (outcome.kind === 'signed' || outcome.kind === 'later') return [];
  // No price would bring the transaction into a block.
  if (outcome.kind === 'refused' && spec.purpose === 'bump') {
    // What nodes refuse once may be taken a moment later. It is offered again until the refusal is believed.
    const isDoubted =
      offers.hasAnswer(transaction.id, 'refused') &&
      !offers.isHopeless(transaction.id, at.elapsed, lane.timing.refusalMs);
    if (spec.refusal !== undefined && isDoubted)
      return [{ do: 'rest', transaction, until: at.elapsed + lane.timing.retryMs }];
    return [giveUp(transaction, outcome.reason, at)];
  }
  // The earlier attempts stay on offer.
  const { reason } = outcome;
  const cause = outcome.kind === 'parked' ? outcome.cause : outcome.kind === 'failed' ? 'error' : 'other';
  const isNew = offers.causeOf(transaction.id) !== cause;
  const decision = { kind: 'parked', text: reason } as const;
  const change = { transaction, set: { statusReason: reason }, ...(isNew && { decision }) };
  const until = at.elapsed + lane.timing.furtherMs;
  return [{ do: 'park', transaction, cause, until, ...(transaction.noopEnd === null && { change }) }];
}

// What nodes are offered.

/**
 * The most transactions offered at once after nodes had no room. Pools that limit the transactions of an account hold
 * 16 (reth, geth). If room appears during a round of at most 16, some of it is left for lower sequences.
 */
const CROWDED_ROUND = 16;

/**
 * Chooses what to offer now, lowest sequence first: due transactions that no node has taken yet, and those that a node
 * took long ago and that are in no block. Once nodes have had no room, few transactions are offered at a time, and none
 * above one that waits for room. It would take room there and get into no block.
 */
function offersNow(lane: LaneState, at: Moment): LaneCommand[] {
  const [now, later]: [OpenTransaction[], OpenTransaction[]] = [[], []];
  const open = unmined(lane, at);
  const most = open.some((entry) => lacksRoom(lane, entry)) ? CROWDED_ROUND : Number.POSITIVE_INFINITY;
  let below: OpenTransaction | undefined;
  for (const entry of open) {
    if (!needsOffer(lane, entry, at)) {
      if (lacksRoom(lane, entry)) below ??= entry;
    } else if (now.length < most && (below === undefined || !isOrdered(entry))) {
      now.push(entry);
    } else {
      later.push(entry);
    }
  }
  return [
    ...now.map((entry): LaneCommand => ({ do: 'rebroadcast', entry })),
    ...later.map((entry): LaneCommand => ({ do: 'holdBack', entry, below })),
  ];
}

/**
 * Whether to offer the latest attempt now: it is due and no node took it lately, or the pool is known not to have it. A
 * transaction that is to have no effect is offered only as a noop.
 */
function needsOffer({ memory: { offers }, timing }: LaneState, entry: OpenTransaction, at: Moment): boolean {
  const latest = latestAttemptOf(entry);
  const { id } = entry.transaction;
  if (latest === undefined || latest.deadAt !== null || !mayBeOffered(entry)) return false;
  if (offers.isMissing(id)) return true;
  return isDue(entry, at) && (latest.acceptedAt === null || offers.isStale(id, at.elapsed, timing.reofferMs));
}

function lacksRoom({ memory }: LaneState, entry: OpenTransaction): boolean {
  return isOrdered(entry) && memory.offers.hasAnswer(entry.transaction.id, 'busy');
}

function onAnswer(lane: LaneState, entry: OpenTransaction, outcome: BroadcastOutcome, at: Moment): LaneCommand {
  const { transaction, attempts } = entry;
  const { offers } = lane.memory;
  const { now } = at;
  const { id, noopEnd, status } = transaction;
  const ordinal = latestAttemptOf(entry)?.ordinal ?? 1;
  if (outcome.kind === 'accepted') {
    const set = {
      ...(status === 'sent' ? ({ status: 'submitted' } as const) : {}),
      // One that stands under a sequence out of reach keeps the reason, however often nodes take it.
      ...(offers.causeOf(id) === 'sequence' ? {} : reasonUnlessWithdrawn(noopEnd, null)),
      sentAt: transaction.sentAt ?? now,
      nextActionAt: nextLookAt(now, now, lane.timing),
    };
    const accepted = { ordinal, at: now, ...(outcome.by !== undefined && { by: outcome.by }) };
    return { do: 'noteTaken', change: { transaction, set, accepted } };
  }
  const { kind, reason, by } = outcome;
  const isNews = !offers.hasAnswer(id, kind);
  const nextActionAt = now + backOff(offers.failuresOf(id) + 1, lane.timing, () => at.random());
  const text = `Attempt ${ordinal} not taken${by === undefined ? '' : ` by ${by}`} (${kind}): ${reason}`;
  const decision = { kind: 'not-taken', text } as const;
  const set = { ...reasonUnlessWithdrawn(noopEnd, reason), nextActionAt };
  // While a node may have an earlier attempt, words that nobody knows may be about the replacement alone.
  const isFirst = attempts.every(({ acceptedAt }) => acceptedAt === null);
  return { do: 'retry', change: { transaction, set, ...(isNews && { decision }) }, outcome, isFirst };
}

/** Puts off a transaction above one that waits for room. It becomes due together with that one. */
function onNoRoom({ memory }: LaneState, entry: OpenTransaction, blocker: Transaction): LaneCommand {
  const { transaction } = entry;
  const { sequence, nextActionAt } = blocker;
  const text = `Attempt ${latestAttemptOf(entry)?.ordinal} not offered: no room for ${sequence}, which comes before it`;
  const isNews = !memory.offers.hasAnswer(transaction.id, 'busy');
  const set = { ...reasonUnlessWithdrawn(transaction.noopEnd, text), nextActionAt };
  return {
    do: 'noteHeldBack',
    change: { transaction, set, ...(isNews && { decision: { kind: 'not-taken', text } as const }) },
  };
}

/** Keeps the reason why a transaction is to have no effect, whatever nodes say of its noop. */
function reasonUnlessWithdrawn(noopEnd: string | null, statusReason: string | null): { statusReason?: string | null } {
  return noopEnd === null ? { statusReason } : {};
}

// What stands above a gap that is too wide to be filled.

/**
 * An endpoint reported a wrong count when these were signed. They are not signed again under a lower sequence, because
 * their bytes can still execute once the account gets there, and then both would. Each says why it waits. Once the
 * chain shows that the count was wrong, a noop takes its sequence. It stays open, and so keeps its sequence from
 * others, until the chain shows which of its attempts executed.
 *
 * One that was canceled, or whose lifetime has passed, ends when a noop holds its place in the pools. It gives up its
 * sequence, so that the account does not seem to have come that far.
 */
function onBeyondReach(lane: LaneState, entry: OpenTransaction, isExpired: boolean, at: Moment): LaneCommand[] {
  const { transaction } = entry;
  const { id, sequence, noopEnd, statusReason } = transaction;
  const { offers } = lane.memory;
  const name = lane.chain.sequence?.name ?? 'sequence';
  const under = `Signed under ${name} ${sequence}, which the account is far from reaching`;
  if (isReplacedByNoop(lane, entry) && (noopEnd !== 'failed' || isExpired)) {
    const set = {
      status: noopEnd ?? 'failed',
      statusReason: `${statusReason}. ${under}`,
      sequence: null,
      nextActionAt: null,
    };
    return [{ do: 'strand', change: { transaction, set, decision: { kind: 'dead', text: under } } }];
  }
  const isNew = offers.causeOf(id) !== 'sequence';
  const parked = { do: 'park', transaction, cause: 'sequence', until: at.elapsed } as const;
  const silent = isNew ? [parked] : [];
  if (noopEnd !== null) return silent;
  const cause = `${under}: an endpoint reported a wrong count`;
  if (isProved(lane, entry)) {
    const reason = `${cause}. Taken back by a noop under that ${name}. It ends when the account gets there, or with its lifetime. Do not pay again before, or cancel it first`;
    return [...silent, giveUp(transaction, reason, at)];
  }
  const reason = `${cause}. It is taken back once a newer transaction of the account is in a block. Do not pay again before it has ended`;
  if (statusReason === reason) return silent;
  const change = { transaction, set: { statusReason: reason } };
  if (!isNew) return [{ do: 'wait', change }];
  return [{ ...parked, change: { ...change, decision: { kind: 'parked', text: reason } } }];
}

/** Whether a noop took the place of the transaction, or no node ever took any of its attempts. */
function isReplacedByNoop({ memory }: LaneState, entry: OpenTransaction): boolean {
  const { id, noopEnd } = entry.transaction;
  const latest = latestAttemptOf(entry);
  if (noopEnd === null || latest?.purpose !== 'noop') return false;
  if (latest.acceptedAt !== null) return true;
  return memory.offers.wasTurnedAway(id) && entry.attempts.every(({ acceptedAt }) => acceptedAt === null);
}

/**
 * Whether the chain shows that the count was wrong: a block took a lower sequence of the account that was signed after
 * this one. A low count alone proves nothing, as it may be the wrong one.
 */
function isProved({ memory: { newestInBlock } }: LaneState, { transaction, attempts }: OpenTransaction): boolean {
  const [first] = attempts;
  if (newestInBlock === null || first === undefined || transaction.sequence === null) return false;
  return newestInBlock.signedAt > first.createdAt && newestInBlock.sequence < transaction.sequence;
}
