import { messageOf } from '../../domain/errors.ts';
import { chainOfLane } from '../../domain/transaction/lane.ts';
import { askAny, type LaneStep, latestOf, unmined } from '../lane/lane-step.ts';
import type { OpenEntry } from '../lane/ledger.ts';

/**
 * Marks transactions that a node took and no longer has, so that they are offered again. Pools keep few transactions of
 * one account (geth 16). Some drop the others without a word, and some lose one. The node's count shows which are
 * missing. The node is asked after each block that made room, and now and then. At most a batch is marked, lowest
 * sequences first.
 */
export async function markMissing(step: LaneStep): Promise<void> {
  const { timing } = step;
  const { pool } = step.memory;
  if (!pool.isDue(step.clock.elapsed(), timing.poolMs)) return;
  const waiting = unmined(step).filter((entry) => hasWaited(step, entry));
  const [lowest] = waiting;
  if (lowest === undefined) return;
  const hasRoom = pool.ask(step.clock.elapsed());
  try {
    const { client, account } = await step.senders.of(lowest.transaction.relayerId);
    const count = await askAny(step, client, async (one) =>
      one.sequences?.next(account.address, chainOfLane(step.key)),
    );
    if (count === undefined) return;
    const isMissing = ({ transaction: { sequence } }: OpenEntry) => sequence !== null && sequence >= count;
    const missing = waiting.filter((entry) => isMissing(entry) && (hasRoom || isTaken(entry)));
    for (const { transaction } of missing.slice(0, timing.batch)) step.memory.offers.missing(transaction.id);
  } catch (error) {
    step.log.debug({ reason: messageOf(error), lane: step.key }, 'pool not looked at');
  }
}

/** Whether a node took the transaction some time ago, or had no room for it. */
function hasWaited(step: LaneStep, entry: OpenEntry): boolean {
  const { id } = entry.transaction;
  if (!isTaken(entry)) return step.memory.offers.hasHeard(id, 'busy');
  return step.memory.offers.isStale(id, step.clock.elapsed(), step.timing.poolMs);
}

function isTaken(entry: OpenEntry): boolean {
  return latestOf(entry)?.acceptedAt !== null;
}
