import type { BroadcastOutcome } from '../../chains/chain-client.ts';
import type { NetworkType } from '../../domain/network-type.ts';
import type { Transaction } from '../../features/transactions/records/transaction.ts';

/** Why a transaction waits. */
export type ParkCause = 'price' | 'balance' | 'budget' | 'sequence' | 'error' | 'other';

/** A transaction that waits. */
export interface ParkedTransaction {
  relayerId: string;
  networkType: NetworkType;
  cause: ParkCause;
}

interface Entry {
  failures: number;
  acceptedAt: number | null;
  refusals: number;
  refusedSince: number;
  /** Another attempt is due: nodes ask for a higher fee, or for another figure. */
  wantsAnother: boolean;
  /** What they said of it. */
  refusal: string | undefined;
  /** Words that nobody knows, and with which every node turns the bytes away. */
  words: string;
  wordsSince: number;
  timesSaid: number;
  /** Whether a node is known not to have the transaction, although a node took it or had no room for it before. */
  isMissing: boolean;
  restsUntil: number;
  parked: ParkedTransaction | null;
  /** Since when the chain shows the sequence as used, but not by which transaction; null while it does not. */
  unprovedSince: number | null;
  /** The kinds of answers that nodes gave to the latest attempt. */
  answers: ReadonlySet<BroadcastOutcome['kind']>;
}

const NEW: Entry = {
  failures: 0,
  acceptedAt: null,
  refusals: 0,
  refusedSince: 0,
  wantsAnother: false,
  refusal: undefined,
  words: '',
  wordsSince: 0,
  timesSaid: 0,
  isMissing: false,
  restsUntil: 0,
  parked: null,
  unprovedSince: null,
  answers: new Set(),
};

/**
 * Remembers a lane's offers to nodes, and its failures. It decides only about pauses and about when a dearer attempt is
 * due. Losing it in a restart costs nothing but repeated offers of the same bytes. Times are of a clock that never goes
 * back.
 */
export class BroadcastHistory {
  readonly #entries = new Map<string, Entry>();

  /** Counts a failure and returns how many there were in a row. */
  failed(transactionId: string): number {
    const { failures } = this.#change(transactionId, ({ failures }) => ({ failures: failures + 1, isMissing: false }));
    return failures;
  }

  /** How many failures there were in a row. */
  failuresOf(transactionId: string): number {
    return this.#entries.get(transactionId)?.failures ?? 0;
  }

  /** A node took the bytes. */
  accepted(transactionId: string, elapsed: number): void {
    this.#change(transactionId, ({ restsUntil, parked, unprovedSince, answers }) => ({
      ...NEW,
      acceptedAt: elapsed,
      restsUntil,
      parked,
      unprovedSince,
      answers,
    }));
  }

  /** Every node that answered refused the bytes because of their content. */
  refused(transactionId: string, elapsed: number): void {
    this.#change(transactionId, ({ refusals, refusedSince }) => ({
      refusals: refusals + 1,
      refusedSince: refusals === 0 ? elapsed : refusedSince,
    }));
  }

  /** A node does not have the bytes: they are to be offered again now. */
  missing(transactionId: string): void {
    this.#change(transactionId, () => ({ isMissing: true }));
  }

  /**
   * The transaction was not offered, because nodes have no room for one before it.
   * @returns false when this was noted since the last attempt already, or nodes said so themselves
   */
  heldBack(transactionId: string): boolean {
    const isNews = this.isNews(transactionId, 'busy');
    this.#change(transactionId, () => ({ isMissing: false }));
    return isNews;
  }

  isMissing(transactionId: string): boolean {
    return this.#entries.get(transactionId)?.isMissing ?? false;
  }

  /** Nodes ask for a higher fee than the bytes pay, or refuse another figure in them. */
  wantsAnother(transactionId: string, refusal: string): void {
    this.#change(transactionId, () => ({ wantsAnother: true, refusal }));
  }

  /** Every node turned the bytes away with words that nobody knows, and none has them. */
  turnedAway(transactionId: string, reason: string, elapsed: number): void {
    const words = reason.replace(/0x[0-9a-f]+|\d+/gi, '#');
    this.#change(transactionId, (entry) =>
      entry.words === words ? { timesSaid: entry.timesSaid + 1 } : { words, timesSaid: 1, wordsSince: elapsed },
    );
  }

  /** A node gave another answer, or none: it may have the bytes. */
  notTurnedAway(transactionId: string): void {
    if ((this.#entries.get(transactionId)?.timesSaid ?? 0) > 0)
      this.#change(transactionId, () => ({ words: '', timesSaid: 0 }));
  }

  /** A further attempt cannot be made before the given time. */
  restUntil(transactionId: string, elapsed: number): void {
    this.#change(transactionId, () => ({ restsUntil: elapsed }));
  }

  /**
   * Like {@link restUntil}, with the cause for which the transaction waits.
   * @returns false when it has waited for the same cause since the last attempt
   */
  park({ id, relayerId, networkType }: Transaction, cause: ParkCause, elapsed: number): boolean {
    const before = this.#entries.get(id)?.parked?.cause;
    this.#change(id, () => ({ restsUntil: elapsed, parked: { relayerId, networkType, cause } }));
    return before !== cause;
  }

  /** The chain shows the transaction's sequence as used, and the endpoints cannot prove by which transaction. */
  unproved(transactionId: string, elapsed: number): void {
    this.#change(transactionId, ({ unprovedSince }) => ({ unprovedSince: unprovedSince ?? elapsed }));
  }

  /** The chain shows the transaction's sequence as free again. */
  freed(transactionId: string): void {
    if ((this.#entries.get(transactionId)?.unprovedSince ?? null) === null) return;
    this.#change(transactionId, () => ({ unprovedSince: null, parked: null }));
  }

  /** Whether the transaction has been unproved for `forMs` or longer. Then only looking for it can help. */
  isUnproved(transactionId: string, elapsed: number, forMs: number): boolean {
    const since = this.#entries.get(transactionId)?.unprovedSince ?? null;
    return since !== null && elapsed - since >= forMs;
  }

  /** Why the transaction waits, or undefined. */
  causeOf(transactionId: string): ParkCause | undefined {
    return this.#entries.get(transactionId)?.parked?.cause;
  }

  /** All transactions that wait. */
  parked(): ParkedTransaction[] {
    return [...this.#entries.values()].flatMap(({ parked }) => parked ?? []);
  }

  /** Notes an answer of nodes to the latest attempt. Returns whether it is the first of its kind. */
  isNews(transactionId: string, outcome: BroadcastOutcome['kind']): boolean {
    const answers = this.#entries.get(transactionId)?.answers;
    if (answers?.has(outcome) === true) return false;
    this.#change(transactionId, () => ({ answers: new Set([...(answers ?? []), outcome]) }));
    return true;
  }

  /** Whether nodes have given this answer to the latest attempt. */
  hasAnswer(transactionId: string, outcome: BroadcastOutcome['kind']): boolean {
    return this.#entries.get(transactionId)?.answers.has(outcome) ?? false;
  }

  /** Whether the latest attempt was offered and a node did not take it. */
  wasNotTaken(transactionId: string): boolean {
    return (this.#entries.get(transactionId)?.answers.size ?? 0) > 0;
  }

  /** Whether a node has answered that it does not take the latest attempt. No answer does not count. */
  wasTurnedAway(transactionId: string): boolean {
    const answers = this.#entries.get(transactionId)?.answers ?? NEW.answers;
    return [...answers].some((outcome) => outcome !== 'unknown');
  }

  /** A further attempt was signed. What nodes said of the earlier one does not apply to it. */
  signedAnew(transactionId: string): void {
    this.#change(transactionId, ({ unprovedSince }) => ({ ...NEW, unprovedSince }));
  }

  /** Whether no node is known to have taken the bytes in the last `reofferMs` milliseconds. */
  isStale(transactionId: string, elapsed: number, reofferMs: number): boolean {
    const acceptedAt = this.#entries.get(transactionId)?.acceptedAt ?? null;
    return acceptedAt === null || elapsed - acceptedAt >= reofferMs;
  }

  /** Whether the bytes were refused often enough and for long enough to believe that no node will ever take them. */
  isHopeless(transactionId: string, elapsed: number, refusalMs: number): boolean {
    const { refusals, refusedSince } = this.#entries.get(transactionId) ?? NEW;
    return refusals >= REFUSALS_BELIEVED && elapsed - refusedSince >= refusalMs;
  }

  /**
   * Whether every node has turned the bytes away with the same words again and again and for so long that it is a
   * refusal, although nobody knows the words.
   */
  isTurnedAway(transactionId: string, elapsed: number, forMs: number): boolean {
    const { timesSaid, wordsSince } = this.#entries.get(transactionId) ?? NEW;
    return timesSaid >= WORDS_BELIEVED && elapsed - wordsSince >= forMs;
  }

  /** Why another attempt is due because of what nodes said of the latest; undefined if none is. */
  anotherFor(transactionId: string): { refusal: string | undefined } | undefined {
    const { wantsAnother, refusal } = this.#entries.get(transactionId) ?? NEW;
    return wantsAnother ? { refusal } : undefined;
  }

  isResting(transactionId: string, elapsed: number): boolean {
    return (this.#entries.get(transactionId)?.restsUntil ?? 0) > elapsed;
  }

  forget(transactionId: string): void {
    this.#entries.delete(transactionId);
  }

  get size(): number {
    return this.#entries.size;
  }

  #change(transactionId: string, change: (entry: Entry) => Partial<Entry>): Entry {
    const entry = this.#entries.get(transactionId) ?? NEW;
    const changed = { ...entry, ...change(entry) };
    this.#entries.set(transactionId, changed);
    return changed;
  }
}

const REFUSALS_BELIEVED = 3;
const WORDS_BELIEVED = 10;
