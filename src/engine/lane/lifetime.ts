import { chainOfLane } from '../../domain/transaction/lane.ts';
import type { Timestamp, Transaction } from '../../domain/transaction/transaction.ts';
import { askAny, type LaneStep } from './lane-step.ts';
import type { Sender } from './sender.ts';

/**
 * Whether a transaction has expired: its own time is over or, if it has none, the lifetime that its chain sets. The
 * store's clock alone ends nothing, because a clock can be wrong for a moment and an end is final. A second proof is
 * needed. Either the chain has made a block since the end, or this process has watched the transaction for its whole
 * lifetime, by a clock that nobody sets. The latter also works where no block is made or no node answers.
 */
export async function hasExpired(step: LaneStep, transaction: Transaction): Promise<boolean> {
  const { id, relayerId, validUntil, createdAt } = transaction;
  const watched = step.memory.ages.watched(id, step.clock.elapsed());
  // A missing relayer is reported where it is needed. Here it must not stop the rest of the lane.
  const sender = await step.senders.of(relayerId).catch(() => undefined);
  const endsAt = validUntil ?? (sender && createdAt + sender.chain.pace.lifetimeMs);
  if (endsAt === undefined || endsAt > step.clock.now()) return false;
  return watched >= endsAt - createdAt || (sender !== undefined && (await hasChainPassed(step, sender, endsAt)));
}

async function hasChainPassed(step: LaneStep, { client }: Sender, end: Timestamp): Promise<boolean> {
  const at = await step.clock.chainTime(() => askAny(step, client, (one) => one.moment(chainOfLane(step.key))));
  return at !== undefined && at >= end;
}

/** What ended, for `status_reason`. */
export function lifetimeOf({ validUntil }: Transaction): string {
  return validUntil === null ? 'Its lifetime passed' : 'valid_until passed';
}
