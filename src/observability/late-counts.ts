/** The labels of a count. */
export type CountedBy = readonly [
  first: string,
  second: string | number | undefined,
  third: string | number | undefined,
];

type Level<T> = Map<string | number | undefined, T>;

/** The amount added since the last handover. */
interface Row {
  by: CountedBy;
  amount: number;
  /** Whether the row has never been handed over. Then it is handed over even with an amount of 0. */
  isNew: boolean;
}

/**
 * Collects counts, and adds them to their instrument only when that is read. prom-client builds a text of all labels at
 * each count. Requests are counted often, and instruments are read once in many seconds.
 */
export class LateCounts {
  readonly #rows: Level<Level<Level<Row>>> = new Map();

  /** Adds to the count of these labels. */
  add(amount: number, first: string, second?: string | number, third?: string | number): void {
    const row = this.#rows.get(first)?.get(second)?.get(third);
    if (row === undefined) this.#begin(amount, [first, second, third]);
    else row.amount += amount;
  }

  /** Hands over the amounts added since the last time. */
  takeOver(into: (by: CountedBy, amount: number) => void): void {
    for (const seconds of this.#rows.values()) {
      for (const thirds of seconds.values()) {
        for (const row of thirds.values()) {
          if (row.isNew || row.amount !== 0) into(row.by, row.amount);
          row.amount = 0;
          row.isNew = false;
        }
      }
    }
  }

  #begin(amount: number, by: CountedBy): void {
    const [first, second, third] = by;
    const seconds = this.#rows.get(first) ?? new Map();
    const thirds = seconds.get(second) ?? new Map();
    this.#rows.set(first, seconds.set(second, thirds.set(third, { by, amount, isNew: true })));
  }
}
