/** Prints what the demo does, one step a line, with the time since the start. */
export class Narrator {
  readonly #out: { write(text: string): unknown };
  readonly #began: number;

  constructor(out: { write(text: string): unknown }, began: number) {
    this.#out = out;
    this.#began = began;
  }

  /** Prints one step: its topic and what happened. */
  step(topic: string, text: string): void {
    this.#out.write(`${this.#seconds()}  ${topic.padEnd(9)} ${text}\n`);
  }

  /** Prints a second line for the previous step. */
  detail(text: string): void {
    this.#out.write(`${' '.repeat(18)} ${text}\n`);
  }

  /** Prints a list below a topic. An empty list is a fault of the demo. */
  list<T>(topic: string, items: readonly T[], line: (item: T) => string): void {
    if (items.length === 0) throw new Error(`the answer has no ${topic}`);
    this.step(topic, `${items.length}`);
    for (const item of items) this.detail(line(item));
  }

  failure(error: unknown): void {
    this.#out.write(`\nThe demo failed: ${error instanceof Error ? error.message : String(error)}\n`);
  }

  done(): void {
    this.#out.write(`\nDone in ${this.#seconds().trim()}. Your own plugin: see "A first plugin" in README.md.\n`);
  }

  #seconds(): string {
    return `${((performance.now() - this.#began) / 1000).toFixed(1)} s`.padStart(7);
  }
}
