/** What comes within this time is told of together. */
const GATHER_MS = 50;
/** How long at the most nobody looks. */
const EVERY_MS = 1_000;

/**
 * Beats soon after something may have happened, and now and then without, while somebody waits. All who wait hear the
 * same beat, so that what they then look at is looked at once.
 */
export class WakeUp {
  #beats = 0;
  #next: PromiseWithResolvers<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isSoon = false;

  get beats(): number {
    return this.#beats;
  }

  /** Something may have happened. */
  stir(): void {
    if (this.#next === undefined) this.#beats += 1;
    else this.#beatSoon();
  }

  /** Resolves with the next beat; soon, when there was one since the one that was heard last. */
  async next(heard: number): Promise<void> {
    if (this.#next === undefined) {
      this.#next = Promise.withResolvers();
      this.#timer = setTimeout(() => this.#beat(), EVERY_MS);
    }
    if (heard !== this.#beats) this.#beatSoon();
    await this.#next.promise;
  }

  #beatSoon(): void {
    if (this.#isSoon) return;
    this.#isSoon = true;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#beat(), GATHER_MS);
  }

  #beat(): void {
    const heard = this.#next;
    this.#next = undefined;
    this.#isSoon = false;
    this.#beats += 1;
    heard?.resolve();
  }
}
