import { type HeardCount, isCloseTo } from './sequence-leap.ts';

/** How long a count counts that was not heard again, in milliseconds. */
export const HEARD_MS = 600_000;

/**
 * What the chain told of accounts when their relayers were checked, by lane. So a count that has to be heard for a while
 * is mostly old enough when the account signs for the first time. Losing it in a restart costs only time.
 */
export class HeardCounts {
  readonly #counts = new Map<string, HeardCount & { at: number }>();

  /** `elapsed` is by a clock that never goes back. */
  note(lane: string, chain: bigint, elapsed: number): void {
    const before = this.#counts.get(lane);
    const since = before !== undefined && isCloseTo(before.chain, chain) ? before.since : elapsed;
    this.#counts.set(lane, { chain, since, at: elapsed });
  }

  /** Undefined also where it was last heard so long ago that it says nothing of what is told since. */
  of(lane: string, elapsed: number): HeardCount | undefined {
    const heard = this.#counts.get(lane);
    if (heard === undefined || elapsed - heard.at > HEARD_MS) return undefined;
    return { chain: heard.chain, since: heard.since };
  }
}
