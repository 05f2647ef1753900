import type { Transaction } from '../domain/transaction.ts';
import type { LaneStep } from './lane-step.ts';

/** Whether the time is over in which a transaction was worth sending: its own, else that of its chain. */
export async function hasExpired(step: LaneStep, { relayerId, validUntil, createdAt }: Transaction): Promise<boolean> {
  const now = step.now();
  if (validUntil !== null) return validUntil <= now;
  try {
    const { chain } = await step.senders.of(relayerId);
    return createdAt + chain.lifetimeMs <= now;
  } catch {
    // Its relayer is not there: what needs it says so, and the rest of the lane goes on.
    return false;
  }
}

/** What ended, for `status_reason`. */
export function lifetimeOf({ validUntil }: Transaction): string {
  return validUntil === null ? 'Its lifetime passed' : 'valid_until passed';
}
