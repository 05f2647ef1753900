/** A deadline after which unanswered operations are aborted. There is none until {@link within} sets it. */
export class CutOff {
  readonly #controller = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #at = Number.POSITIVE_INFINITY;

  /** Aborts at the deadline. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Sets the deadline to `ms` milliseconds from now, unless it is earlier already. */
  within(ms: number): void {
    const at = performance.now() + ms;
    if (at >= this.#at) return;
    this.#at = at;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#controller.abort(), ms).unref();
  }
}
