interface Entry {
  failures: number;
  acceptedAt: number | null;
  refusals: number;
  refusedSince: number;
  wantsDearer: boolean;
  restsUntil: number;
  isParked: boolean;
}

const NEW: Entry = {
  failures: 0,
  acceptedAt: null,
  refusals: 0,
  refusedSince: 0,
  wantsDearer: false,
  restsUntil: 0,
  isParked: false,
};

/**
 * What a lane remembers of its offers to nodes and of its failures. It only decides about pauses and when a dearer
 * version is due: losing it in a restart costs nothing but offers of the same bytes. Times are of a clock that never
 * goes back.
 */
export class OfferBook {
  readonly #entries = new Map<string, Entry>();

  /** Counts a failure and returns how many there were in a row. */
  failed(transactionId: string): number {
    const { failures } = this.#change(transactionId, ({ failures }) => ({ failures: failures + 1 }));
    return failures;
  }

  /** A node took the bytes. */
  accepted(transactionId: string, elapsed: number): void {
    this.#change(transactionId, ({ restsUntil, isParked }) => ({ ...NEW, acceptedAt: elapsed, restsUntil, isParked }));
  }

  /** Every node that answered refuses the bytes for what they are. */
  refused(transactionId: string, elapsed: number): void {
    this.#change(transactionId, ({ refusals, refusedSince }) => ({
      refusals: refusals + 1,
      refusedSince: refusals === 0 ? elapsed : refusedSince,
    }));
  }

  /** Nodes ask for more than the bytes pay. */
  tooCheap(transactionId: string): void {
    this.#change(transactionId, () => ({ wantsDearer: true }));
  }

  /** A further version cannot be made before the given time. */
  restUntil(transactionId: string, elapsed: number): void {
    this.#change(transactionId, () => ({ restsUntil: elapsed }));
  }

  /**
   * The same, as the price or the balance does not allow one now.
   * @returns false when that has been so since the last version
   */
  park(transactionId: string, elapsed: number): boolean {
    const wasParked = this.#entries.get(transactionId)?.isParked ?? false;
    this.#change(transactionId, () => ({ restsUntil: elapsed, isParked: true }));
    return !wasParked;
  }

  /** A further version was signed: what nodes said of the earlier one says nothing of it. */
  renewed(transactionId: string): void {
    this.#change(transactionId, () => NEW);
  }

  /** Whether no node is known to have taken the bytes in the last `reofferMs` milliseconds. */
  isStale(transactionId: string, elapsed: number, reofferMs: number): boolean {
    const acceptedAt = this.#entries.get(transactionId)?.acceptedAt ?? null;
    return acceptedAt === null || elapsed - acceptedAt >= reofferMs;
  }

  /** Whether the bytes were refused often enough and for long enough to believe that nobody will ever take them. */
  isHopeless(transactionId: string, elapsed: number, refusalMs: number): boolean {
    const { refusals, refusedSince } = this.#entries.get(transactionId) ?? NEW;
    return refusals >= REFUSALS_BELIEVED && elapsed - refusedSince >= refusalMs;
  }

  wantsDearer(transactionId: string): boolean {
    return this.#entries.get(transactionId)?.wantsDearer ?? false;
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
