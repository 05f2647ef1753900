import type { Timestamp } from '../../domain/transaction/transaction.ts';

/** Measures ages in milliseconds, by a clock that never goes back and that nobody sets. */
export class Ages {
  readonly #known = new Map<string, { at: Timestamp; since: number }>();
  readonly #watched = new Map<string, number>();

  /**
   * Returns the age of a date from the store. The first call compares the date with the store's clock. Later calls add
   * the time that has really passed since then. So nobody waits longer when the store's clock is set back, or shorter
   * when it is set ahead.
   * @param now by the store's clock
   * @param elapsed by the clock that never goes back
   */
  of(key: string, at: Timestamp, { now, elapsed }: { now: Timestamp; elapsed: number }): number {
    const known = this.#known.get(key);
    if (known?.at === at) return elapsed - known.since;
    // A date in the future was stored before the clock was set back.
    const age = Math.max(now - at, 0);
    this.#known.set(key, { at, since: elapsed - age });
    return age;
  }

  /** Returns the time since the first call for the key. It uses no stored date and starts again after a restart. */
  watched(key: string, elapsed: number): number {
    const since = this.#watched.get(key) ?? elapsed;
    this.#watched.set(key, since);
    return elapsed - since;
  }

  forget(key: string): void {
    this.#known.delete(key);
    this.#watched.delete(key);
  }

  get size(): number {
    return new Set([...this.#known.keys(), ...this.#watched.keys()]).size;
  }
}
