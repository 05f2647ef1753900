/** Measures the processor time that a child's process takes during one stretch inside the guest. */
export class StretchTime {
  #stretch: { since: number; takenMs: number } | null = null;
  #takenMs = 0;

  /**
   * Call it at each look.
   * @param since when the child entered the guest, on the clock of `now`; null when it is outside
   * @param takenMs processor time of the process so far
   * @returns the most that the stretch can have taken until now, in milliseconds; 0 outside
   */
  at(now: number, since: number | null, takenMs: number): number {
    if (since === null) this.#stretch = null;
    else if (this.#stretch?.since !== since) this.#stretch = { since, takenMs: this.#takenMs };
    this.#takenMs = takenMs;
    return this.#stretch === null ? 0 : Math.min(now - this.#stretch.since, takenMs - this.#stretch.takenMs);
  }
}
