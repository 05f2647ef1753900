import { openWalFile, type WalFile } from '../../src/store/sqlite/durable-commits.ts';

/**
 * A database log whose flushes the test controls. Flushes run freely until `hold`. Then the test lets each succeed or
 * fail.
 */
export class HeldWal implements WalFile {
  readonly #file: WalFile;
  readonly #held: PromiseWithResolvers<void>[] = [];
  #whenAsked: PromiseWithResolvers<void> | undefined;
  #isHolding = false;
  /** How many flushes were asked for. */
  flushes = 0;

  constructor(path: string) {
    this.#file = openWalFile(path);
  }

  async flush(): Promise<void> {
    this.flushes += 1;
    if (this.#isHolding) {
      const turn = Promise.withResolvers<void>();
      this.#held.push(turn);
      this.#whenAsked?.resolve();
      await turn.promise;
    }
    await this.#file.flush();
  }

  /** From now on flushes wait. */
  hold(): void {
    this.#isHolding = true;
  }

  /** Resolves when a flush waits. */
  async asked(): Promise<void> {
    if (this.#held.length > 0) return;
    this.#whenAsked = Promise.withResolvers<void>();
    await this.#whenAsked.promise;
  }

  /** Lets the flush that waits longest happen. */
  pass(): void {
    this.#held.shift()?.resolve();
  }

  /** Lets it fail. */
  fail(cause: Error): void {
    this.#held.shift()?.reject(cause);
  }

  /** Lets all happen, those to come as well. */
  release(): void {
    this.#isHolding = false;
    for (const turn of this.#held.splice(0)) turn.resolve();
  }

  close(): void {
    this.#file.close();
  }
}
