import type { PastTransactionsAnswer } from '../../chains/chain-client.ts';
import { withTimeout } from '../../domain/with-timeout.ts';
import { sequenceOf } from '../../features/transactions/records/anchor.ts';
import type { Attempt } from '../../features/transactions/records/attempt.ts';
import type { Timestamp, Transaction } from '../../features/transactions/records/transaction.ts';
import type { StoreReader, UnsignedRelease } from '../../store/store.ts';
import type { OpenTransactions } from './open-transactions.ts';

/*
 * A database can be put back to an earlier moment without a trace in itself: a disk snapshot, a copied file, a standby
 * that lacks the last commits. What it holds as unsigned may have been sent since then, and sent again it is paid twice.
 *
 * So the chain is the witness. What a lane finds in the store when it begins, and did not see accepted itself, is *old*.
 * Where the account's sequence on the chain is beyond what the store led to, no old transaction is signed before the
 * account's own transactions were compared with it by content. One that does the same becomes its attempt, one for one.
 * When all were looked through, the others were made by another tool, and the lane goes on. While they cannot be looked
 * through, the old ones wait for an operator's word. New transactions go on: nobody can have sent them before.
 *
 * An old transaction that was signed and whose sequence something unknown has used is compared in the same way before
 * it ends or is signed again. That may have been a later attempt of it, which the store has forgotten.
 *
 * A durable call from before goes on from what it heard before the copy was made. What it has sent since then it sends
 * again, as new transactions. So these are old as well: they are compared with what the account did beyond what the store
 * led to when this instance got the lane.
 */

/** How long a step waits for an answer. A longer look goes on beside the following steps. */
const LOOK_IN_STEP_MS = 2_000;
/** The pause before an account that could not be looked through is looked at again. */
export const RESTORED_RETRY_MS = 30_000;

/** What calls from before may have sent of an account. It outlives a lane that is idle for a while. */
export class OldCalls {
  /** Calls that may have been made up to then are old, by the store's clock. */
  readonly #startedAt: Timestamp;
  /**
   * The sequences that the store did not lead to; null: there were none. Undefined: not known yet. `from` null: from the
   * account's first on.
   */
  gap: { from: bigint | null; to: bigint } | null | undefined;
  /** Sequences in reach that are not a forgotten transaction's. */
  readonly #ours = new Set<bigint>();
  /** What the store led to at first. */
  #from: bigint | null | undefined;
  #askAt = 0;

  constructor(startedAt: Timestamp) {
    this.#startedAt = startedAt;
  }

  /** The lane begins, or has signed something: all of this is ours. */
  note(settled: bigint | null, open: OpenTransactions): void {
    if (this.gap !== undefined) return;
    if (this.#from === undefined) this.#from = settled;
    for (const { transaction } of open.entries.values()) this.took(transaction.sequence);
  }

  took(sequence: bigint | null): void {
    if (sequence !== null) this.#ours.add(sequence);
  }

  isOurs(sequence: bigint): boolean {
    return this.#ours.has(sequence);
  }

  /** Whether the call of a transaction may have been made before. */
  areOf({ origin }: Pick<Transaction, 'origin'>): boolean {
    return origin?.since !== undefined && origin.since <= this.#startedAt;
  }

  /** Whether the chain may be asked now. Until it has answered, once in a while. */
  mayAsk(elapsed: number, everyMs: number): boolean {
    if (elapsed < this.#askAt) return false;
    this.#askAt = elapsed + everyMs;
    return true;
  }

  /** The chain has come to this sequence. */
  cameTo(to: bigint): void {
    const from = this.#from ?? null;
    const low = from ?? 0n;
    const within = [...this.#ours].filter((sequence) => sequence >= low && sequence < to);
    this.gap = to - low > BigInt(within.length) ? { from, to } : null;
  }
}

/** What a lane finds in the store and did not see accepted itself. */
export interface LaneOrigin {
  /** The place of the last transaction of that kind, in the order of acceptance. */
  upTo: number;
  /** What is old among durable calls; null: nothing. */
  oldCalls: OldCalls | null;
  /** An operator's word about unsigned transactions, while it is in force. */
  release: UnsignedRelease | null;
}

interface Beginning {
  upTo: number;
  oldCalls: OldCalls | null;
  settled: bigint | null;
  unchecked: readonly string[];
  isKept: boolean;
}

/** What is old in a lane, and how far it was compared. */
export class RestoredLane {
  /** Nothing is old. */
  static readonly NOTHING = new RestoredLane({ upTo: 0, oldCalls: null, settled: null, unchecked: [], isKept: false });

  /** Old transactions are those accepted up to this place. */
  readonly upTo: number;
  readonly oldCalls: OldCalls | null;
  /** The sequences that the store led to when the lane began, or at an earlier start whose comparison did not end. */
  readonly settled: bigint | null;
  /** Whether the store keeps `settled`, because new transactions may move on what it leads to at the next start. */
  isKept: boolean;
  readonly #old: Set<string>;
  readonly #unchecked: Set<string>;
  /** The transactions of old calls among them. */
  readonly #arrived = new Set<string>();
  /** The ordinals of the latest attempts with whose death transactions were compared. */
  readonly #compared = new Map<string, number>();
  /** The lowest sequence of an old transaction that something unknown has used. */
  #displacedFrom: bigint | null = null;
  #asked: Promise<PastTransactionsAnswer | undefined> | undefined;
  /** Why the old transactions wait for an operator; null while they do not. */
  #held: string | null = null;
  #restUntil = 0;
  #waitsSince: number | null = null;
  #firstHeight: bigint | undefined;

  private constructor({ upTo, oldCalls, settled, unchecked, isKept }: Beginning, others: readonly string[] = []) {
    this.upTo = upTo;
    this.oldCalls = oldCalls;
    this.settled = settled;
    this.isKept = isKept;
    this.#unchecked = new Set(unchecked);
    this.#old = new Set([...unchecked, ...others]);
  }

  /**
   * @param upTo the place of the last transaction that is old
   * @param release an operator's word that covers unsigned transactions, while it is in force
   */
  static async begin(
    read: Pick<StoreReader, 'pendingIdsUpTo' | 'restoredFrom'>,
    lane: string,
    { upTo, oldCalls, release, open }: LaneOrigin & { open: OpenTransactions },
  ): Promise<RestoredLane> {
    const signed = [...open.entries.keys()];
    const pending = upTo === 0 ? [] : await read.pendingIdsUpTo(lane, upTo);
    const kept = await read.restoredFrom(lane);
    const isKept = kept !== undefined;
    const released = release === null ? [] : await read.pendingIdsUpTo(lane, release.upTo);
    const covered = new Set(released.map(({ id }) => id));
    const ids = pending.map(({ id }) => id);
    const unchecked = ids.filter((id) => !covered.has(id));
    const settled = isKept ? kept : await open.settled();
    oldCalls?.note(await open.settled(), open);
    return new RestoredLane({ upTo, oldCalls, settled, unchecked, isKept }, [...signed, ...ids]);
  }

  /** Whether a transaction comes from a call that may have sent it before the database was put back. */
  isOfOldCall(transaction: Pick<Transaction, 'id' | 'origin'>): boolean {
    if (this.oldCalls === null || this.oldCalls.gap === null || this.#old.has(transaction.id)) return false;
    return this.oldCalls.areOf(transaction);
  }

  /** A transaction of an old call is to be compared. */
  arrived(transactionId: string): void {
    this.#old.add(transactionId);
    this.#arrived.add(transactionId);
    this.#unchecked.add(transactionId);
  }

  /** The transactions of old calls that have still to be compared. */
  get arrivals(): string[] {
    return [...this.#unchecked.intersection(this.#arrived)];
  }

  /** Whether only transactions of old calls are to be compared. */
  get areArrivals(): boolean {
    return this.#unchecked.isSubsetOf(this.#arrived);
  }

  /** Whether an old transaction has still to be compared. */
  get isPending(): boolean {
    return this.#unchecked.size > 0;
  }

  /** Whether the transaction must not be signed yet. */
  isUnchecked(transactionId: string): boolean {
    return this.#unchecked.has(transactionId);
  }

  /** Why old transactions wait for an operator; undefined while they do not. */
  get heldFor(): string | undefined {
    return this.#held ?? undefined;
  }

  /** The lowest sequence that matters; null where none is known. */
  get from(): bigint | null {
    const [settled, displaced] = [this.settled, this.#displacedFrom];
    if (displaced === null || settled === null) return displaced ?? settled;
    return displaced < settled ? displaced : settled;
  }

  /** Whether something unknown has used the sequence of an old transaction. */
  get isDisplaced(): boolean {
    return this.#displacedFrom !== null;
  }

  /** Whether a transaction has to be compared before it ends, when none of these attempts can execute any more. */
  mustCompare(transactionId: string, attempts: readonly Pick<Attempt, 'ordinal'>[]): boolean {
    if (!this.#old.has(transactionId)) return false;
    return this.#compared.get(transactionId) !== latestOf(attempts) || this.#unchecked.has(transactionId);
  }

  /** None of these attempts of a transaction can execute any more. */
  died(transactionId: string, attempts: readonly Pick<Attempt, 'anchor' | 'ordinal'>[]): void {
    const latest = latestOf(attempts);
    if (!this.#old.has(transactionId) || this.#compared.get(transactionId) === latest) return;
    this.#compared.set(transactionId, latest);
    this.#unchecked.add(transactionId);
    for (const { anchor } of attempts) {
      const sequence = sequenceOf(anchor);
      if (sequence === null) continue;
      if (this.#displacedFrom === null || sequence < this.#displacedFrom) this.#displacedFrom = sequence;
    }
  }

  /** These need no comparison any more. */
  clear(transactionIds: Iterable<string>): void {
    for (const id of transactionIds) this.#unchecked.delete(id);
    if (this.isPending) return;
    this.#displacedFrom = null;
    this.#waitsSince = null;
    this.#held = null;
  }

  hold(reason: string, elapsed: number): void {
    this.#held = reason;
    this.rest(elapsed + RESTORED_RETRY_MS);
  }

  /** For how long some of the account's transactions could not be shown, in milliseconds. */
  waitsFor(elapsed: number): number {
    this.#waitsSince ??= elapsed;
    return elapsed - this.#waitsSince;
  }

  /** Makes no further comparison before this time, on a clock that never goes back. */
  rest(until: number): void {
    this.#restUntil = Math.max(this.#restUntil, until);
  }

  isResting(elapsed: number): boolean {
    return elapsed < this.#restUntil;
  }

  /** Forgets all but those with these ids, because they have ended or were signed by now. */
  keep(transactionIds: ReadonlySet<string>): void {
    this.clear([...this.#unchecked].filter((id) => !transactionIds.has(id)));
  }

  /** Asks once at a time. Undefined while there is no answer. */
  async ask(look: () => Promise<PastTransactionsAnswer>): Promise<PastTransactionsAnswer | undefined> {
    this.#asked ??= look();
    const asked = this.#asked;
    const answer = await withTimeout(LOOK_IN_STEP_MS, asked).catch((error: unknown) => {
      this.#asked = undefined;
      throw error;
    });
    if (answer !== undefined && this.#asked === asked) this.#asked = undefined;
    return answer;
  }

  /** How many blocks the chain has made since the first look. */
  blocksSince(height: bigint): bigint {
    this.#firstHeight ??= height;
    return height - this.#firstHeight;
  }
}

function latestOf(attempts: readonly Pick<Attempt, 'ordinal'>[]): number {
  return attempts.at(-1)?.ordinal ?? 0;
}
