import type { Account } from '../chains/account.ts';
import type { Chain } from '../chains/chain.ts';
import type { WireObject } from '../domain/json/json.ts';
import type { Transaction } from '../domain/transaction/transaction.ts';

interface Made {
  readonly account: Account;
  readonly view: WireObject;
}

/**
 * Transactions as answers show them. Clients ask for one until it ends: while it is the same record of the store, they
 * get the same view, which is frozen.
 */
export class TransactionViews {
  readonly #made = new WeakMap<Transaction, Made>();

  of(chain: Chain, transaction: Transaction, account: Account): WireObject {
    const made = this.#made.get(transaction);
    if (made?.account.address === account.address && made.account.policies === account.policies) return made.view;
    const view = Object.freeze(chain.transactionView(transaction, account));
    this.#made.set(transaction, { account, view });
    return view;
  }
}
