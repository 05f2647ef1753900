/** The moment at which what does not answer is waited for no longer. It comes only when somebody sets it. */
export class CutOff {
  readonly #controller = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #at = Number.POSITIVE_INFINITY;

  /** Aborts at that moment. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Sets it to so many milliseconds from now, unless it comes sooner already. */
  within(ms: number): void {
    const at = performance.now() + ms;
    if (at >= this.#at) return;
    this.#at = at;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#controller.abort(), ms).unref();
  }
}
