import { CallTable } from '../call-table.ts';
import { NO_CALL } from './pulse.ts';

/** A clock that saw a stretch begin and end at once still saw a stretch. */
const LEAST_MS = 0.01;

/** Follows in whose stretches the memory of a child grew, so that who filled it is known when it is too large. */
export class Growth {
  #rssBytes = 0;
  /** Time inside the guest since the last look, in milliseconds. */
  readonly #spent = new CallTable<number>();
  readonly #grown = new CallTable<number>();

  /** A call was inside the guest for so long, in milliseconds. */
  ran(call: number, ms: number): void {
    this.#spent.set(call, (this.#spent.get(call) ?? 0) + Math.max(ms, LEAST_MS));
  }

  /** The child has this much memory now, in bytes: what is new is divided among who ran since the last look. */
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

  /** The call, still there, in which the memory grew most; {@link NO_CALL} where none took `leastBytes`. */
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
