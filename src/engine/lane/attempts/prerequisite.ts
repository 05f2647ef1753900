import type { ParsedRequest } from '../../../chains/parsed-request.ts';
import { newTransaction } from '../../../domain/transaction/new-transaction.ts';
import type { Transaction } from '../../../domain/transaction/transaction.ts';
import { isFinal } from '../../../domain/transaction/transaction-state.ts';
import type { LaneStep } from '../lane-step.ts';
import type { Change } from '../ledger.ts';
import { parked } from './parking.ts';

/**
 * Makes the transaction that has to be final before another one can be prepared, as a row of its own; while there is one
 * that is not final, the other waits for it. One that failed is not tried again: the other fails as well.
 * @returns what becomes of the one that waits
 */
export async function awaitPrerequisite(
  step: LaneStep,
  transaction: Transaction,
  { first, reason }: { first: ParsedRequest; reason: string },
): Promise<Change> {
  const [latest] = await step.read.children(transaction.id);
  const wait = parked(step, transaction, 'other', { reason, pauseMs: step.timing.lookMs });
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
