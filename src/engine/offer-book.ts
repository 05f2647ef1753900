/**
 * What a lane remembers of its offers to nodes and of its failures. It only decides about pauses: losing it in a
 * restart costs nothing but an offer of the same bytes more.
 */
export class OfferBook {
  readonly #entries = new Map<string, { failures: number; acceptedAt: number | null }>();

  /** Counts a failure and returns how many there were in a row. */
  failed(transactionId: string): number {
    const entry = this.#entries.get(transactionId);
    const failures = (entry?.failures ?? 0) + 1;
    this.#entries.set(transactionId, { failures, acceptedAt: entry?.acceptedAt ?? null });
    return failures;
  }

  /** A node took the bytes, at the given time of a clock that never goes back. */
  accepted(transactionId: string, elapsed: number): void {
    this.#entries.set(transactionId, { failures: 0, acceptedAt: elapsed });
  }

  /** Whether no node is known to have taken the bytes in the last `reofferMs` milliseconds. */
  isStale(transactionId: string, elapsed: number, reofferMs: number): boolean {
    const acceptedAt = this.#entries.get(transactionId)?.acceptedAt ?? null;
    return acceptedAt === null || elapsed - acceptedAt >= reofferMs;
  }

  forget(transactionId: string): void {
    this.#entries.delete(transactionId);
  }

  get size(): number {
    return this.#entries.size;
  }
}
