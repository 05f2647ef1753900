import type { Reader } from '../../store/store.ts';
import type { OpenEntry } from './ledger.ts';

/** What a lane has under way, and how far its account has come. */
export class OpenBook {
  /** The lane's open transactions by id. */
  readonly entries: Map<string, OpenEntry>;
  readonly #readSettled: () => Promise<bigint | null>;
  #settled: bigint | null | undefined;

  private constructor(entries: readonly OpenEntry[], readSettled: () => Promise<bigint | null>) {
    this.entries = new Map(entries.map((entry) => [entry.transaction.id, entry]));
    this.#readSettled = readSettled;
  }

  static async read(read: Pick<Reader, 'openTransactions' | 'settledSequence'>, lane: string): Promise<OpenBook> {
    return new OpenBook(await read.openTransactions(lane), () => read.settledSequence(lane));
  }

  /** The sequence after the highest that is used for good; read once, then kept. */
  async settled(): Promise<bigint | null> {
    if (this.#settled === undefined) this.#settled = await this.#readSettled();
    return this.#settled;
  }

  /** A transaction with this sequence has ended. */
  ended(sequence: bigint | null): void {
    if (sequence === null || this.#settled === undefined) return;
    if (this.#settled === null || sequence >= this.#settled) this.#settled = sequence + 1n;
  }
}
