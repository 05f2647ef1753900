import type { Chain } from '../../../chains/chain.ts';
import type { ReadyPreparation } from '../../../chains/chain-client.ts';
import type { Transaction } from '../../../domain/transaction/transaction.ts';
import type { SpendingRaise } from '../../../store/store.ts';
import type { LaneStep } from '../lane-step.ts';
import { parked } from './parking.ts';
import type { Priced } from './prepare.ts';

/** An attempt whose price is known and that is not signed yet. */
export interface PricedAttempt extends Pick<ReadyPreparation, 'cost'>, Pick<Transaction, 'request'> {
  transactionId: string;
  chain: Chain;
  /** The attempt is never refused, but counts against the budget. */
  mayExceed: boolean;
}

/**
 * Reserves what priced transactions can cost in their plugins' budgets, before any is signed. Transactions that exceed
 * a budget now stay pending and are looked at later.
 * @returns the transactions that may be signed, in the order given
 */
export async function affordable(step: LaneStep, priced: readonly Priced[]): Promise<readonly Priced[]> {
  const reasons = await shortages(
    step,
    priced.map(({ transaction: { id, request }, sender: { chain }, preparation: { cost } }) => {
      return { transactionId: id, chain, request, cost, mayExceed: false };
    }),
  );
  if (reasons.size === 0) return priced;
  const tooDear = priced.flatMap(({ transaction }) => {
    const reason = reasons.get(transaction.id);
    // A budget gets room again when other transactions end or leave its hour.
    return reason === undefined
      ? []
      : [parked(step, transaction, 'budget', { reason, pauseMs: step.timing.furtherMs })];
  });
  await step.ledger.apply(tooDear);
  return priced.filter(({ transaction }) => !reasons.has(transaction.id));
}

/**
 * Reserves what attempts can cost in their plugins' budgets, if they have one.
 * @returns why an attempt exceeds its budget and must not be signed now, by the transaction's id
 */
export async function shortages(step: LaneStep, attempts: readonly PricedAttempt[]): Promise<Map<string, string>> {
  const budgeted = await step.read.budgeted(attempts.map(({ transactionId }) => transactionId));
  const asks = attempts
    .filter(({ transactionId }) => budgeted.has(transactionId))
    .flatMap((one) => raiseFor(one) ?? []);
  const refusals = asks.length === 0 ? [] : await step.ledger.raise(asks);
  return new Map(refusals.map(({ transactionId, reason }) => [transactionId, reason]));
}

function raiseFor({ chain, transactionId, request, cost, mayExceed }: PricedAttempt): SpendingRaise | undefined {
  if (chain.spending === undefined) return undefined;
  const { value } = chain.spending.spendOf(request);
  return { transactionId, value, fee: cost - value, mayExceed };
}
