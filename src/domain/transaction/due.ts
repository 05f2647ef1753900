import type { Timestamp } from './transaction.ts';

/**
 * Longer than any pause before the engine's next action on a transaction, in milliseconds. An action further away was
 * set before the clock was set back.
 */
export const BEYOND_ANY_PAUSE_MS = 60_000;

/**
 * Whether an action set for `at` is to be taken now. An action too far ahead was set before the clock was set back. It
 * is taken too, so that it does not wait for hours.
 */
export function isDueAt(at: Timestamp | null, now: Timestamp): boolean {
  return at !== null && (at <= now || at > now + BEYOND_ANY_PAUSE_MS);
}
