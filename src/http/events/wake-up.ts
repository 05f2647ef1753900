/** News within this time is sent together. */
const GATHER_MS = 50;
/** The longest time between two beats while somebody waits. */
const EVERY_MS = 1_000;

/**
 * Wakes the streams soon after something may have happened, and at intervals otherwise. It beats only while somebody
 * waits. All who wait hear the same beat, so that they can share one query.
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

  /** Resolves with the next beat. The beat comes soon when there were beats after the number `heard`. */
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
