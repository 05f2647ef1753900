import type { Chain, ReadyPreparation } from '../chains/chain.ts';
import type { AttemptPurpose, Transaction } from '../domain/transaction.ts';
import type { SpendingRaise } from '../store/store.ts';
import type { LaneStep } from './lane-step.ts';
import type { Change } from './ledger.ts';
import { type Priced, parked } from './pricing.ts';

/**
 * Reserves what priced transactions can cost where a plugin's budget bears them, before any is signed. Those that it
 * does not bear now stay pending and are looked at later.
 * @returns those that may be signed, in the order given
 */
export async function affordable(step: LaneStep, priced: readonly Priced[]): Promise<readonly Priced[]> {
  const budgeted = await step.budgeted(priced.map(({ transaction }) => transaction.id));
  if (budgeted.size === 0) return priced;
  const asks = priced
    .filter(({ transaction }) => budgeted.has(transaction.id))
    .map(({ transaction, sender, preparation }) =>
      raiseFor(sender.chain, transaction.id, { request: transaction.request, cost: preparation.cost }, false),
    );
  const refusals = await step.ledger.raise(asks.filter((ask) => ask !== undefined));
  const reasons = new Map(refusals.map(({ transactionId, reason }) => [transactionId, reason]));
  const tooDear = priced.flatMap(({ transaction }): Change[] => {
    const statusReason = reasons.get(transaction.id);
    if (statusReason === undefined) return [];
    // Amounts come free as others end or age.
    return [parked(step, transaction, 'budget', { statusReason, nextActionAt: step.now() + step.timing.renewMs })];
  });
  await step.ledger.apply(tooDear);
  return priced.filter(({ transaction }) => !reasons.has(transaction.id));
}

/**
 * Reserves what one more version of a transaction can cost. A version that does nothing is never refused, for without
 * it the sequence would hold up everything behind; it counts all the same.
 * @returns why it must not be signed now
 */
export async function versionShortage(
  step: LaneStep,
  chain: Chain,
  { id }: Transaction,
  version: Pick<ReadyPreparation, 'cost'> & Pick<Transaction, 'request'>,
  purpose: AttemptPurpose,
): Promise<string | undefined> {
  if ((await step.budgeted([id])).size === 0) return undefined;
  const ask = raiseFor(chain, id, version, purpose === 'void');
  const [refusal] = ask === undefined ? [] : await step.ledger.raise([ask]);
  return refusal?.reason;
}

function raiseFor(
  { spending }: Chain,
  transactionId: string,
  { request, cost }: Pick<ReadyPreparation, 'cost'> & Pick<Transaction, 'request'>,
  mayExceed: boolean,
): SpendingRaise | undefined {
  if (spending === undefined) return undefined;
  const { value } = spending.spendOf(request);
  return { transactionId, value, fee: cost - value, mayExceed };
}
