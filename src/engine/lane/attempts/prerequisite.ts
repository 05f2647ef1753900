import type { ParsedRequest } from '../../../chains/chain-client.ts';
import { newTransaction, type Transaction } from '../../../domain/transaction/transaction.ts';
import { isFinal } from '../../../domain/transaction/transaction-state.ts';
import type { LaneStep } from '../lane-step.ts';
import type { Change } from '../ledger.ts';
import { parked } from './parking.ts';

/**
 * Creates the prerequisite of a transaction: another transaction that must be final before this one can be prepared.
 * While the prerequisite is not final, the transaction waits. If the prerequisite fails, it is not tried again, and the
 * transaction fails too.
 * @returns the change of the waiting transaction
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
