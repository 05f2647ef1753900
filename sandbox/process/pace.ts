/** A plugin whose stretches take no longer than this is quick, in milliseconds. */
const QUICK_MS = 0.5;
/** How much of a slow stretch is remembered by the next one. */
const MEMORY = 0.9;

/** How quick a plugin's stretches of guest code have been lately. */
export class Pace {
  #ms = Number.POSITIVE_INFINITY;

  get quick(): boolean {
    return this.#ms < QUICK_MS;
  }

  took(ms: number): void {
    this.#ms = Math.max(ms, Math.min(this.#ms, LONGEST_MS) * MEMORY);
  }
}

/** So that one slow stretch is forgotten after some dozens of quick ones. */
const LONGEST_MS = 20;
