import { type HeardCount, isCloseTo } from './sequence-leap.ts';

/**
 * What the chain told of accounts when their relayers were checked, by lane. So a count that has to be heard for a while
 * is mostly old enough when the account signs for the first time. Losing it in a restart costs only time.
 */
export class HeardCounts {
  readonly #counts = new Map<string, HeardCount>();

  /** `elapsed` is by a clock that never goes back. */
  note(lane: string, chain: bigint, elapsed: number): void {
    const before = this.#counts.get(lane);
    const since = before !== undefined && isCloseTo(before.chain, chain) ? before.since : elapsed;
    this.#counts.set(lane, { chain, since });
  }

  of(lane: string): HeardCount | undefined {
    return this.#counts.get(lane);
  }
}
