import type { Chain } from '../../chains/chain.ts';
import type { Attempt } from '../../features/transactions/records/attempt.ts';
import type { StoreReader } from '../../store/store.ts';
import type { OpenTransaction } from './ledger.ts';

/** The open transactions of a lane, and the highest sequence that its account has used finally. */
export class OpenTransactions {
  readonly #entries: Map<string, OpenTransaction>;
  /** Cached until an entry is added, changed or removed, because several parts of a step need it. */
  #bySequence: readonly OpenTransaction[] | undefined;
  /** Costs by an attempt's `fields`, which stay the same object when nodes take the attempt. */
  readonly #costs = new WeakMap<object, bigint>();
  readonly #readSettled: () => Promise<bigint | null>;
  #settled: bigint | null | undefined;

  private constructor(entries: readonly OpenTransaction[], readSettled: () => Promise<bigint | null>) {
    this.#entries = new Map(entries.map((entry) => [entry.transaction.id, entry]));
    this.#readSettled = readSettled;
  }

  static async read(
    read: Pick<StoreReader, 'openTransactions' | 'settledSequence'>,
    lane: string,
  ): Promise<OpenTransactions> {
    return new OpenTransactions(await read.openTransactions(lane), () => read.settledSequence(lane));
  }

  /** The lane's open transactions by id. */
  get entries(): ReadonlyMap<string, OpenTransaction> {
    return this.#entries;
  }

  /** The open transactions, lowest sequence first. Those without a sequence keep their order. */
  get bySequence(): readonly OpenTransaction[] {
    this.#bySequence ??= [...this.#entries.values()].sort(compareSequences);
    return this.#bySequence;
  }

  set(transactionId: string, entry: OpenTransaction): void {
    this.#entries.set(transactionId, entry);
    this.#bySequence = undefined;
  }

  delete(transactionId: string): void {
    this.#entries.delete(transactionId);
    this.#bySequence = undefined;
  }

  /** The highest cost among the attempts of one transaction: any of them may be the one that takes effect. */
  dearestCost(chain: Pick<Chain, 'costOf'>, attempts: readonly Attempt[]): bigint {
    return attempts.reduce((most, attempt) => {
      const cost = this.#costs.get(attempt.fields) ?? chain.costOf(attempt);
      this.#costs.set(attempt.fields, cost);
      return cost > most ? cost : most;
    }, 0n);
  }

  /** The sequence after the highest one that a final transaction has used; read once, then kept. */
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

function compareSequences(one: OpenTransaction, other: OpenTransaction): number {
  const [a, b] = [one.transaction.sequence ?? 0n, other.transaction.sequence ?? 0n];
  return Number(a > b) - Number(a < b);
}
