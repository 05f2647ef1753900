import type { Timestamp } from '../domain/transaction.ts';

/**
 * How long ago things were that the store has dated, in milliseconds, by a clock that never goes back: a date is compared
 * with the store's clock once, and from then on the time counts that has really passed. So a clock that is set back makes
 * nobody wait longer than usual, and one that is set ahead nobody hurry.
 */
export class Ages {
  readonly #known = new Map<string, { at: Timestamp; since: number }>();

  /** `now` is by the store's clock, `elapsed` by the one that never goes back. */
  of(key: string, at: Timestamp, { now, elapsed }: { now: Timestamp; elapsed: number }): number {
    const known = this.#known.get(key);
    if (known?.at === at) return elapsed - known.since;
    // What is dated ahead of now was so before the clock was set back.
    const age = Math.max(now - at, 0);
    this.#known.set(key, { at, since: elapsed - age });
    return age;
  }

  forget(key: string): void {
    this.#known.delete(key);
  }

  get size(): number {
    return this.#known.size;
  }
}
