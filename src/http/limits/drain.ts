/**
 * Counts the requests under way. While draining, no new requests are admitted, and closing can wait for the running
 * ones.
 */
export class Drain {
  #underWay = 0;
  #isDraining = false;
  readonly #started = new AbortController();
  readonly #idle = Promise.withResolvers<void>();

  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** Aborts when draining starts. Answers without an end of their own stop then. */
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

  /** Stops admitting requests. Resolves when no request is under way, at the latest after `graceMs`. */
  async start(graceMs: number): Promise<void> {
    this.#isDraining = true;
    this.#started.abort();
    if (this.#underWay === 0) return;
    const limit = setTimeout(this.#idle.resolve, graceMs);
    await this.#idle.promise;
    clearTimeout(limit);
  }
}
