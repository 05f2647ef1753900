import type { Chain } from '../../../chains/chain.ts';
import type { ParsedRequest, ReadyPreparation, TransactionPreparation } from '../../../chains/chain-client.ts';
import { messageOf } from '../../../domain/errors.ts';
import { wireTime } from '../../../domain/wire-time.ts';
import { BEYOND_ANY_PAUSE_MS } from '../../../features/transactions/records/lane.ts';
import type { Transaction } from '../../../features/transactions/records/transaction.ts';
import { newTransaction } from '../../../features/transactions/records/transaction.ts';
import { isFinal } from '../../../features/transactions/records/transaction-state.ts';
import type { SpendingRaise } from '../../../store/store.ts';
import { backOff } from '../../timing.ts';
import type { ParkCause } from '../broadcast-history.ts';
import { forgetTransaction, type LaneStep, unminedTransactions } from '../lane-step.ts';
import type { LaneChange } from '../ledger.ts';
import type { Sender } from '../sender.ts';

/** How much longer a pause is for each remembered transaction, in milliseconds. */
const PAUSE_PER_WAITING_MS = 5;
/** Well below the pause that counts as a clock that was set back. */
const MAX_PAUSE_MS = BEYOND_ANY_PAUSE_MS - 10_000;

/** A transaction that is priced and may be signed. */
export interface PricedTransaction {
  transaction: Transaction;
  sender: Sender;
  preparation: ReadyPreparation;
}

type Outcome = { sender: Sender; preparation: TransactionPreparation } | { error: unknown };

/**
 * Prices pending transactions. Ends those that are refused, and puts off those that cannot be priced or signed now.
 * @returns those that may be signed, in the order given
 */
export async function pricePending(step: LaneStep, pending: readonly Transaction[]): Promise<PricedTransaction[]> {
  const outcomes = await askTogether<Transaction, Outcome>(pending, committedCost(step), {
    ask: (transaction, committed) => ask(step, transaction, committed),
    takes: (outcome) =>
      'preparation' in outcome && outcome.preparation.kind === 'ready' ? outcome.preparation.cost : undefined,
  });
  const priced: PricedTransaction[] = [];
  const changes: LaneChange[] = [];
  for (const [index, transaction] of pending.entries()) {
    const outcome = outcomes[index];
    if (outcome === undefined) continue;
    if ('preparation' in outcome && outcome.preparation.kind === 'ready') {
      priced.push({ transaction, sender: outcome.sender, preparation: outcome.preparation });
    } else {
      changes.push(await putOff(step, transaction, outcome));
    }
  }
  await step.ledger.apply(changes);
  return priced;
}

async function putOff(step: LaneStep, transaction: Transaction, outcome: Outcome): Promise<LaneChange> {
  if ('error' in outcome) {
    return retryLater(step, transaction, messageOf(outcome.error));
  }
  const { preparation } = outcome;
  if (preparation.kind === 'refused') {
    forgetTransaction(step, transaction.id);
    const decision = { kind: 'refused', text: preparation.reason } as const;
    const status = preparation.end ?? 'failed';
    return { transaction, set: { status, statusReason: preparation.reason, nextActionAt: null }, decision };
  }
  if (preparation.kind === 'first') return awaitPrerequisite(step, transaction, preparation);
  if (preparation.kind === 'parked') {
    const { reason, cause = 'other', retryInMs } = preparation;
    return parkTransaction(step, transaction, cause, { reason, pauseMs: Math.max(retryInMs, step.timing.lookMs) });
  }
  throw new Error('a transaction that is ready is not put off');
}

async function ask(step: LaneStep, transaction: Transaction, committed: bigint): Promise<Outcome> {
  try {
    const sender = await step.senders.of(transaction.relayerId);
    return { sender, preparation: await sender.client.prepare(transaction, sender.account, { committed }) };
  } catch (error) {
    const reason = messageOf(error);
    const level = transaction.statusReason === reason ? 'debug' : 'warn';
    step.log[level]({ reason, transaction: transaction.id, lane: step.key }, 'transaction not prepared');
    return { error };
  }
}

/** The most that the lane's transactions in no block can take from the account, in the smallest unit. */
export function committedCost(step: LaneStep): bigint {
  return unminedTransactions(step).reduce((sum, { attempts }) => sum + step.open.dearestCost(step.chain, attempts), 0n);
}

/**
 * Creates the prerequisite of a transaction: another transaction that must be final before this one can be prepared.
 * While the prerequisite is not final, the transaction waits. If the prerequisite fails, it is not tried again, and the
 * transaction fails too.
 * @returns the change of the waiting transaction
 */
async function awaitPrerequisite(
  step: LaneStep,
  transaction: Transaction,
  { first, reason }: { first: ParsedRequest; reason: string },
): Promise<LaneChange> {
  const [latest] = await step.read.children(transaction.id);
  const wait = parkTransaction(step, transaction, 'other', { reason, pauseMs: step.timing.lookMs });
  if (latest === undefined) {
    const { relayerId, networkType, lane, id: parentId } = transaction;
    const about = { id: step.newId(), relayerId, networkType, lane, parentId, createdAt: step.clock.now() };
    return { ...wait, first: newTransaction({ ...first, ...about, statusReason: reason }) };
  }
  if (!isFinal(latest.status) || latest.status === 'confirmed') return wait;
  const statusReason = `${reason}: transaction ${latest.id} ended as ${latest.status}`;
  const decision = { kind: 'refused', text: statusReason } as const;
  return { transaction, set: { status: 'failed', statusReason, nextActionAt: null }, decision };
}

/** An attempt whose price is known and that is not signed yet. */
interface PricedAttempt extends Pick<ReadyPreparation, 'cost'>, Pick<Transaction, 'request'> {
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
export async function withinPluginBudgets(
  step: LaneStep,
  priced: readonly PricedTransaction[],
): Promise<readonly PricedTransaction[]> {
  const reasons = await pluginBudgetShortages(
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
      : [parkTransaction(step, transaction, 'budget', { reason, pauseMs: step.timing.furtherMs })];
  });
  await step.ledger.apply(tooDear);
  return priced.filter(({ transaction }) => !reasons.has(transaction.id));
}

/**
 * Reserves what attempts can cost in their plugins' budgets, if they have one.
 * @returns why an attempt exceeds its budget and must not be signed now, by the transaction's id
 */
export async function pluginBudgetShortages(
  step: LaneStep,
  attempts: readonly PricedAttempt[],
): Promise<Map<string, string>> {
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

/**
 * Keeps a transaction pending that cannot be signed now, at most for its lifetime. Its status reason says why, and when
 * it is looked at next. The timeline shows each cause once. The more transactions wait, the less often each is looked
 * at.
 */
export function parkTransaction(
  step: LaneStep,
  transaction: Transaction,
  cause: ParkCause,
  { reason, pauseMs }: { reason: string; pauseMs: number },
): LaneChange {
  const isNew = step.memory.offers.park(transaction, cause, step.clock.elapsed());
  const crowd = Math.min(step.memory.offers.size * PAUSE_PER_WAITING_MS, MAX_PAUSE_MS);
  const nextActionAt = step.clock.now() + Math.max(pauseMs, crowd);
  const set = { statusReason: `${reason} (checked again at ${wireTime(nextActionAt)})`, nextActionAt };
  return { transaction, set, ...(isNew && { decision: { kind: 'parked', text: reason } as const }) };
}

/** Keeps a transaction pending for a pause that grows with each failure. */
export function retryLater(step: LaneStep, transaction: Transaction, reason: string, withinMs = Infinity): LaneChange {
  const pause = Math.min(backOff(step.memory.offers.failed(transaction.id), step.timing, step.random), withinMs);
  return { transaction, set: { statusReason: reason, nextActionAt: step.clock.now() + pause } };
}

/** How to ask about several items that one account pays for. */
interface CostQuestion<T, A> {
  /** @param committed what is taken from the account already */
  ask(item: T, committed: bigint): Promise<A>;
  /**
   * The further amount that an answer takes from the account; undefined for an item that does not count, as when it
   * cannot go on.
   */
  takes(answer: A, item: T): bigint | undefined;
}

/**
 * Asks about all items at once, each as if it were the only one. Then asks about the last one again, with the cost of
 * the others added, to see whether the account can pay for all. If it cannot, asks about the items one after the other.
 * @returns one answer for each, in order
 */
export async function askTogether<T, A>(
  items: readonly T[],
  committed: bigint,
  { ask, takes }: CostQuestion<T, A>,
): Promise<A[]> {
  const answers = await Promise.all(items.map((item) => ask(item, committed)));
  const taken = answers.map((answer, index) => takes(answer, items[index] as T));
  const last = taken.findLastIndex((cost) => cost !== undefined);
  const others = taken.slice(0, Math.max(last, 0)).filter((cost) => cost !== undefined);
  const item = items[last];
  if (item === undefined || others.length === 0) return answers;
  const again = await ask(
    item,
    others.reduce((sum, cost) => sum + cost, committed),
  );
  return takes(again, item) === undefined ? askInTurn(items, committed, { ask, takes }) : answers;
}

async function askInTurn<T, A>(
  items: readonly T[],
  committed: bigint,
  { ask, takes }: CostQuestion<T, A>,
): Promise<A[]> {
  const answers: A[] = [];
  let taken = committed;
  for (const item of items) {
    const answer = await ask(item, taken);
    taken += takes(answer, item) ?? 0n;
    answers.push(answer);
  }
  return answers;
}
