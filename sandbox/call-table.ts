const FIRST_BITS = 6;

/**
 * Maps call numbers to values, for thousands of calls that come and go each second.
 *
 * It is not a `Map`. When a `Map` outgrows its table (removed entries count too), the old table keeps pointing to the
 * new one, for iterators that may be under way. Once an old table has reached V8's old generation, each collection of
 * young objects keeps all later tables, and the calls in them, until the next full collection. A process that does
 * little else than pass calls on loses a third of its speed to that.
 *
 * In this table a removed entry leaves nothing behind. It uses open addressing with linear probing and moves later
 * entries up on removal (Knuth, The Art of Computer Programming, volume 3, section 6.4, algorithm R). It grows and does
 * not shrink.
 */
export class CallTable<T extends number | object> {
  #bits = FIRST_BITS;
  #calls = new Float64Array(1 << FIRST_BITS);
  #values: (T | undefined)[] = Array.from({ length: 1 << FIRST_BITS });
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(call: number): T | undefined {
    return this.#values[this.#find(call)];
  }

  has(call: number): boolean {
    return this.get(call) !== undefined;
  }

  set(call: number, value: T): void {
    if (this.#size * 2 >= this.#values.length) this.#grow();
    const at = this.#find(call);
    if (this.#values[at] === undefined) this.#size += 1;
    this.#calls[at] = call;
    this.#values[at] = value;
  }

  /** @returns whether it was there */
  delete(call: number): boolean {
    const calls = this.#calls;
    const values = this.#values;
    const mask = values.length - 1;
    let gap = this.#find(call);
    if (values[gap] === undefined) return false;
    for (let at = (gap + 1) & mask; values[at] !== undefined; at = (at + 1) & mask) {
      const moved = calls[at] ?? 0;
      // An entry must not move before its home, where the search for it begins.
      const fromHome = (at - this.#home(moved)) & mask;
      if (fromHome < ((at - gap) & mask)) continue;
      calls[gap] = moved;
      values[gap] = values[at];
      gap = at;
    }
    values[gap] = undefined;
    this.#size -= 1;
    return true;
  }

  clear(): void {
    this.#values.fill(undefined);
    this.#size = 0;
  }

  /** In no particular order. The table must not change during the iteration. */
  *values(): Generator<T, void> {
    for (const value of this.#values) {
      if (value !== undefined) yield value;
    }
  }

  /** In no particular order. The table must not change during the iteration. */
  *entries(): Generator<[call: number, value: T], void> {
    for (const [at, value] of this.#values.entries()) {
      if (value !== undefined) yield [this.#calls[at] ?? 0, value];
    }
  }

  /** Returns the index of the call, or the index where the call belongs. */
  #find(call: number): number {
    const values = this.#values;
    const mask = values.length - 1;
    let at = this.#home(call);
    while (values[at] !== undefined && this.#calls[at] !== call) at = (at + 1) & mask;
    return at;
  }

  /**
   * The index at which the search for a call begins. Spreads consecutive numbers, so that runs stay short (Knuth,
   * section 6.4, Fibonacci hashing).
   */
  #home(call: number): number {
    return Math.imul(call, 0x9e37_79b1) >>> (32 - this.#bits);
  }

  #grow(): void {
    const before = [...this.entries()];
    this.#bits += 1;
    this.#calls = new Float64Array(1 << this.#bits);
    this.#values = Array.from({ length: 1 << this.#bits });
    this.#size = 0;
    for (const [call, value] of before) this.set(call, value);
  }
}
