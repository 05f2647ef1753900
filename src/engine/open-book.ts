import type { Timestamp } from '../domain/transaction.ts';
import type { Reader, Settled } from '../store/store.ts';
import type { OpenEntry } from './ledger.ts';

/** What a lane has under way, and how far its account has come. */
export class OpenBook {
  /** The lane's open transactions by id. */
  readonly entries: Map<string, OpenEntry>;
  readonly #readSettled: () => Promise<Settled | null>;
  #settled: Settled | null | undefined;

  private constructor(entries: readonly OpenEntry[], readSettled: () => Promise<Settled | null>) {
    this.entries = new Map(entries.map((entry) => [entry.transaction.id, entry]));
    this.#readSettled = readSettled;
  }

  static async read(read: Pick<Reader, 'openTransactions' | 'settled'>, lane: string): Promise<OpenBook> {
    return new OpenBook(await read.openTransactions(lane), () => read.settled(lane));
  }

  /** How far those go that ended; read once, then kept. */
  async settled(): Promise<Settled | null> {
    if (this.#settled === undefined) this.#settled = await this.#readSettled();
    return this.#settled;
  }

  /** A transaction with this sequence has ended. */
  ended(sequence: bigint | null, at: Timestamp): void {
    if (sequence === null || this.#settled === undefined) return;
    if (this.#settled === null || sequence >= this.#settled.sequence) this.#settled = { sequence: sequence + 1n, at };
  }
}
