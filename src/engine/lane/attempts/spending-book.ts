import type { Chain } from '../../../chains/chain.ts';
import type { NetworkType } from '../../../domain/network-type.ts';
import type { Spent } from '../../../domain/transaction/spending.ts';
import type { Transaction } from '../../../domain/transaction/transaction.ts';
import { isFinal } from '../../../domain/transaction/transaction-state.ts';
import type { SpendingRaise, Writer } from '../../../store/store.ts';

/** Why an attempt is not signed now. */
export interface FeeRefusal {
  transactionId: string;
  reason: string;
}

/** Keeps plugins' budgets up to date within the ledger's commits. */
export class SpendingBook {
  readonly #chains: ReadonlyMap<NetworkType, Chain>;

  constructor(chains: ReadonlyMap<NetworkType, Chain>) {
    this.#chains = chains;
  }

  /** Records what transactions that are final now really took. */
  async moved(writer: Writer, transactions: readonly Transaction[]): Promise<void> {
    const ended = transactions.filter(({ status }) => isFinal(status)).flatMap((one) => this.#spentBy(one) ?? []);
    if (ended.length > 0) await writer.settleSpending(ended);
  }

  /** Raises reservations, in the order given. Returns a refusal for each that its plugin's budget cannot bear. */
  async raise(writer: Writer, asks: readonly SpendingRaise[]): Promise<FeeRefusal[]> {
    const refusals: FeeRefusal[] = [];
    for (const ask of asks) {
      const shortage = await writer.raiseSpending(ask);
      if (shortage === undefined) continue;
      const { rule, asked, limit, remaining, pluginId } = shortage;
      const reason = `Plugin ${pluginId} has ${remaining} left of ${rule} ${limit}, and the fee can be ${asked} more`;
      refusals.push({ transactionId: ask.transactionId, reason });
    }
    return refusals;
  }

  #spentBy(transaction: Transaction): (Spent & { transactionId: string }) | undefined {
    const spent = this.#chains.get(transaction.networkType)?.spending?.spentBy(transaction);
    return spent && { ...spent, transactionId: transaction.id };
  }
}
