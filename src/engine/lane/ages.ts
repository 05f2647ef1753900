import type { Timestamp } from '../../domain/transaction/transaction.ts';

/** How long ago things were, in milliseconds, by a clock that never goes back and that nobody sets. */
export class Ages {
  readonly #known = new Map<string, { at: Timestamp; since: number }>();
  readonly #watched = new Map<string, number>();

  /**
   * How old a date of the store is. It is compared with the store's clock once, and from then on the time counts that has
   * really passed: a clock that is set back makes nobody wait longer than usual, and one that is set ahead nobody hurry.
   * @param now by the store's clock
   * @param elapsed by the clock that never goes back
   */
  of(key: string, at: Timestamp, { now, elapsed }: { now: Timestamp; elapsed: number }): number {
    const known = this.#known.get(key);
    if (known?.at === at) return elapsed - known.since;
    // What is dated ahead of now was so before the clock was set back.
    const age = Math.max(now - at, 0);
    this.#known.set(key, { at, since: elapsed - age });
    return age;
  }

  /** For how long this has been asked for the key: no date has a part in it, and a restart begins anew. */
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
