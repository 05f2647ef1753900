/** Lets so many run at once; the others wait, first come, first served. */
export class Turns {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(most: number) {
    this.#free = most;
  }

  async take<T>(task: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await task();
    } finally {
      const next = this.#waiting.shift();
      // A place that is handed on is never free, so that nobody comes in between.
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}
