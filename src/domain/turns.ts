/** Lets at most `most` tasks run at once. The others wait; first come, first served. */
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
      // A place goes directly to the next waiting task, so that no other task takes it in between.
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}
