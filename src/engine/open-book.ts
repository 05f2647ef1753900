import type { Timestamp } from '../domain/transaction.ts';
import type { Filler, Reader, Settled } from '../store/store.ts';
import type { OpenEntry } from './ledger.ts';

/** What a lane has under way, and how far its account has come. */
export class OpenBook {
  /** The lane's open transactions by id. */
  readonly entries: Map<string, OpenEntry>;
  readonly #readSettled: () => Promise<Settled | null>;
  #settled: Settled | null | undefined;
  readonly #readFillers: (since: Timestamp) => Promise<Filler[]>;
  #fillers: Filler[] | undefined;

  private constructor(entries: readonly OpenEntry[], read: Pick<Reader, 'fillers' | 'settled'>, lane: string) {
    this.entries = new Map(entries.map((entry) => [entry.transaction.id, entry]));
    this.#readSettled = () => read.settled(lane);
    this.#readFillers = (since) => read.fillers(lane, since);
  }

  static async read(read: Pick<Reader, 'openTransactions' | 'settled' | 'fillers'>, lane: string): Promise<OpenBook> {
    return new OpenBook(await read.openTransactions(lane), read, lane);
  }

  /** The empty transactions that were made for gaps since the oldest open one was signed; read once, then kept. */
  async fillers(): Promise<readonly Filler[]> {
    if (this.#fillers === undefined) {
      const since = Math.min(...[...this.entries.values()].map(signedAt));
      this.#fillers = Number.isFinite(since) ? await this.#readFillers(since) : [];
    }
    return this.#fillers;
  }

  /** One more was made. */
  filled(filler: Filler): void {
    this.#fillers?.push(filler);
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

/** When a transaction got its sequence. */
export function signedAt({ transaction, attempts }: OpenEntry): Timestamp {
  return attempts[0]?.createdAt ?? transaction.createdAt;
}
