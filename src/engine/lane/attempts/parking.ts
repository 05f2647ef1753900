import { BEYOND_ANY_PAUSE_MS } from '../../../domain/transaction/lane.ts';
import type { Transaction } from '../../../domain/transaction/transaction.ts';
import { wireTime } from '../../../domain/wire-time.ts';
import { backOff } from '../../timing.ts';
import type { ParkCause } from '../broadcast-history.ts';
import type { LaneStep } from '../lane-step.ts';
import type { Change } from '../ledger.ts';

/** How much longer a pause is for each remembered transaction, in milliseconds. */
const PAUSE_PER_WAITING_MS = 5;
/** Well below the pause that counts as a clock that was set back. */
const MAX_PAUSE_MS = BEYOND_ANY_PAUSE_MS - 10_000;

/**
 * Keeps a transaction pending that cannot be signed now, at most for its lifetime. Its status reason says why, and when
 * it is looked at next. The timeline shows each cause once. The more transactions wait, the less often each is looked
 * at.
 */
export function parked(
  step: LaneStep,
  transaction: Transaction,
  cause: ParkCause,
  { reason, pauseMs }: { reason: string; pauseMs: number },
): Change {
  const isNew = step.memory.offers.park(transaction, cause, step.clock.elapsed());
  const crowd = Math.min(step.memory.offers.size * PAUSE_PER_WAITING_MS, MAX_PAUSE_MS);
  const nextActionAt = step.clock.now() + Math.max(pauseMs, crowd);
  const set = { statusReason: `${reason} (checked again at ${wireTime(nextActionAt)})`, nextActionAt };
  return { transaction, set, ...(isNew && { decision: { kind: 'parked', text: reason } as const }) };
}

/** Keeps a transaction pending for a pause that grows with each failure. */
export function retryLater(step: LaneStep, transaction: Transaction, reason: string, withinMs = Infinity): Change {
  const pause = Math.min(backOff(step.memory.offers.failed(transaction.id), step.timing, step.random), withinMs);
  return { transaction, set: { statusReason: reason, nextActionAt: step.clock.now() + pause } };
}
