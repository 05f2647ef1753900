import type { Preparation, ReadyPreparation } from '../../../chains/chain-client.ts';
import { messageOf } from '../../../domain/errors.ts';
import type { Transaction } from '../../../domain/transaction/transaction.ts';
import { forget, type LaneStep, unmined } from '../lane-step.ts';
import type { Change } from '../ledger.ts';
import type { Sender } from '../sender.ts';
import { askTogether } from './ask-together.ts';
import { parked, retryLater } from './parking.ts';
import { awaitPrerequisite } from './prerequisite.ts';

/** A transaction that is priced and may be signed. */
export interface Priced {
  transaction: Transaction;
  sender: Sender;
  preparation: ReadyPreparation;
}

type Outcome = { sender: Sender; preparation: Preparation } | { error: unknown };

/**
 * Prices pending transactions. Ends those that are refused, and puts off those that cannot be priced or signed now.
 * @returns those that may be signed, in the order given
 */
export async function price(step: LaneStep, pending: readonly Transaction[]): Promise<Priced[]> {
  const outcomes = await askTogether<Transaction, Outcome>(pending, committedCost(step), {
    ask: (transaction, committed) => ask(step, transaction, committed),
    takes: (outcome) => ('preparation' in outcome ? readyOf(outcome.preparation)?.cost : undefined),
  });
  const priced: Priced[] = [];
  const changes: Change[] = [];
  for (const [index, transaction] of pending.entries()) {
    const outcome = outcomes[index];
    if (outcome === undefined) {
      continue;
    }
    if ('preparation' in outcome && outcome.preparation.kind === 'ready') {
      priced.push({ transaction, sender: outcome.sender, preparation: outcome.preparation });
    } else {
      changes.push(await putOff(step, transaction, outcome));
    }
  }
  await step.ledger.apply(changes);
  return priced;
}

async function putOff(step: LaneStep, transaction: Transaction, outcome: Outcome): Promise<Change> {
  if ('error' in outcome) {
    return retryLater(step, transaction, messageOf(outcome.error));
  }
  const { preparation } = outcome;
  if (preparation.kind === 'refused') {
    forget(step, transaction.id);
    const decision = { kind: 'refused', text: preparation.reason } as const;
    const status = preparation.end ?? 'failed';
    return { transaction, set: { status, statusReason: preparation.reason, nextActionAt: null }, decision };
  }
  if (preparation.kind === 'first') return awaitPrerequisite(step, transaction, preparation);
  if (preparation.kind === 'parked') {
    const { reason, cause = 'other', retryInMs } = preparation;
    return parked(step, transaction, cause, { reason, pauseMs: Math.max(retryInMs, step.timing.lookMs) });
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

function readyOf(preparation: Preparation): ReadyPreparation | undefined {
  return preparation.kind === 'ready' ? preparation : undefined;
}

/** The most that the lane's transactions in no block can take from the account, in the smallest unit. */
export function committedCost(step: LaneStep): bigint {
  return unmined(step).reduce((sum, { attempts }) => sum + step.open.dearestCost(step.chain, attempts), 0n);
}
