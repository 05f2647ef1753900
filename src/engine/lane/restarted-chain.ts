import { chainOfLane, laneKey } from '../../domain/transaction/lane.ts';
import type { Transaction } from '../../domain/transaction/transaction.ts';
import { applyToOpen, type LaneStep } from './lane-step.ts';
import type { Change } from './ledger.ts';

const REASON = 'The chain was started anew: what was signed for the earlier one is not sent to it';

/**
 * Handles a development chain that was started anew. Ends transactions that were signed for the earlier chain, and
 * moves unsigned ones to the account's lane on the new one.
 * @param transactions of the lane
 * @returns how many were ended or moved
 */
export async function leaveRestartedChain(step: LaneStep, transactions: readonly Transaction[]): Promise<number> {
  const identity = chainOfLane(step.key);
  if (step.chain.restartable?.(identity) === undefined) return 0;
  const lanes = new Map<string, string | undefined>();
  for (const transaction of transactions) {
    const { relayerId } = transaction;
    if (!lanes.has(relayerId)) lanes.set(relayerId, await currentLane(step, transaction, identity));
  }
  const failed = { status: 'failed', statusReason: REASON, sequence: null, nextActionAt: null } as const;
  const changes = transactions.flatMap((transaction): Change[] => {
    const lane = lanes.get(transaction.relayerId);
    if (lane === undefined) return [];
    return [{ transaction, set: transaction.status === 'pending' ? { lane } : failed }];
  });
  await applyToOpen(step, changes);
  return changes.length;
}

/**
 * The account's lane on the chain that the relayer's network serves now; undefined when it is still this lane, or not
 * known.
 */
async function currentLane(
  step: LaneStep,
  { relayerId, networkType }: Transaction,
  identity: string,
): Promise<string | undefined> {
  const sender = await step.senders.of(relayerId).catch(() => undefined);
  if (sender === undefined) return undefined;
  const pinned = await step.read.chainIdentity(networkType, sender.relayer.network);
  return pinned === undefined || pinned === identity ? undefined : laneKey(networkType, pinned, sender.account.address);
}
