/** A plugin counts as quick while its stretches take less than this, in milliseconds. */
const QUICK_MS = 0.5;
/** The factor by which the remembered time of a slow stretch shrinks with each later stretch. */
const MEMORY = 0.9;

/** How quick a plugin's stretches of guest code have been lately. */
export class Pace {
  #ms = Number.POSITIVE_INFINITY;

  get quick(): boolean {
    return this.#ms < QUICK_MS;
  }

  took(ms: number): void {
    this.#ms = Math.max(ms, Math.min(this.#ms, MAX_MS) * MEMORY);
  }
}

/** The longest time that is remembered, in milliseconds: so some dozens of quick stretches make up for one slow one. */
const MAX_MS = 20;
