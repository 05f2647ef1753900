import type { WireObject } from './json/json.ts';
import type { DisabledReason } from './relayer.ts';
import { wireTime } from './wire-time.ts';

/** Causes may repeat what a node said at length. */
const LONGEST_TEXT = 1_000;

/** In one line, for who is refused because of it. */
export function disabledText(reason: DisabledReason): string {
  const details = typeof reason.details === 'string' ? [reason.details] : reason.details.map((cause) => cause.details);
  const text = [...new Set(details)].join('; ').slice(0, LONGEST_TEXT);
  return reason.nextCheckAt === undefined ? text : `${text} (checked again at ${wireTime(reason.nextCheckAt)})`;
}

/** As answers and webhooks show it: the reference's keys, and when it is looked at next. */
export function disabledView({ nextCheckAt, ...reason }: DisabledReason): WireObject {
  const details =
    typeof reason.details === 'string' ? reason.details : reason.details.map((cause): WireObject => ({ ...cause }));
  return { type: reason.type, details, ...(nextCheckAt === undefined ? {} : { next_check_at: wireTime(nextCheckAt) }) };
}
