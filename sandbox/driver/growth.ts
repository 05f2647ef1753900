import { CallTable } from '../call-table.ts';
import { NO_CALL } from './pulse.ts';

/**
 * Every stretch counts for at least this long, in milliseconds: the clock may see its begin and end at the same
 * instant.
 */
const MIN_MS = 0.01;

/**
 * Tracks during which call's stretches the child's memory grew. When the memory is too large, this names the call that
 * filled it.
 */
export class Growth {
  #rssBytes = 0;
  /** Time inside the guest since the last look, in milliseconds. */
  readonly #spent = new CallTable<number>();
  readonly #grown = new CallTable<number>();

  /** Adds a stretch of `ms` milliseconds that this call spent inside the guest. */
  ran(call: number, ms: number): void {
    this.#spent.set(call, (this.#spent.get(call) ?? 0) + Math.max(ms, MIN_MS));
  }

  /** Records the child's present memory, in bytes. Divides the growth among the calls that ran since the last look. */
  measured(rssBytes: number): void {
    const grownBytes = rssBytes - this.#rssBytes;
    this.#rssBytes = rssBytes;
    if (grownBytes > 0) {
      const allMs = this.#spent.values().reduce((sum, ms) => sum + ms, 0);
      for (const [call, ms] of this.#spent.entries()) {
        this.#grown.set(call, (this.#grown.get(call) ?? 0) + (grownBytes * ms) / allMs);
      }
    }
    if (this.#spent.size > 0) this.#spent.clear();
  }

  ended(call: number): void {
    this.#grown.delete(call);
    this.#spent.delete(call);
  }

  /**
   * Returns the running call during which the memory grew most, or {@link NO_CALL} when no call grew it by
   * `leastBytes`.
   */
  most(leastBytes: number): number {
    let most = NO_CALL;
    let bytes = leastBytes;
    for (const [call, grown] of this.#grown.entries()) {
      if (call === NO_CALL || grown < bytes) continue;
      most = call;
      bytes = grown;
    }
    return most;
  }
}
