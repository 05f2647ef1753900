/**
 * The requests under way. Once it drains no further ones are let in, and whoever closes the server can wait for those
 * that are there.
 */
export class Drain {
  #underWay = 0;
  #isDraining = false;
  readonly #started = new AbortController();
  readonly #idle = Promise.withResolvers<void>();

  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** Aborted when it starts, for answers that have no end of their own. */
  get signal(): AbortSignal {
    return this.#started.signal;
  }

  began(): void {
    this.#underWay += 1;
  }

  ended(): void {
    this.#underWay -= 1;
    if (this.#isDraining && this.#underWay === 0) this.#idle.resolve();
  }

  /** Lets nobody in from now on; resolves when nothing is under way any more, at the latest after `graceMs`. */
  async start(graceMs: number): Promise<void> {
    this.#isDraining = true;
    this.#started.abort();
    if (this.#underWay === 0) return;
    const limit = setTimeout(this.#idle.resolve, graceMs);
    await this.#idle.promise;
    clearTimeout(limit);
  }
}
