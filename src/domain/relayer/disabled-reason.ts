import { AppError } from '../errors.ts';
import type { JsonObject } from '../json/json.ts';
import { wireTime } from '../wire-time.ts';
import type { COMMON_CHECKS, DisabledReason } from './relayer.ts';

/** The longest text that is shown. Causes may repeat what a node said at length. */
const LONGEST_TEXT = 1_000;

/** The reason in one line, for a client that is refused because of it. */
export function disabledText(reason: DisabledReason): string {
  const details = typeof reason.details === 'string' ? [reason.details] : reason.details.map((cause) => cause.details);
  const text = [...new Set(details)].join('; ').slice(0, LONGEST_TEXT);
  return reason.nextCheckAt === undefined ? text : `${text} (checked again at ${wireTime(reason.nextCheckAt)})`;
}

/** The refusal of a request to a disabled relayer. */
export function relayerDisabled(reason: DisabledReason): AppError<'RELAYER_DISABLED'> {
  return new AppError('RELAYER_DISABLED', { reason: disabledText(reason) }, { disabledReason: reason });
}

/** The same for a relayer whose first check has not ended: nobody knows yet on which chain it is. */
export function networkNotReached(network?: string): AppError<'RELAYER_DISABLED'> {
  const cause = network === undefined ? 'its network was not reached yet' : `network ${network} was not reached yet`;
  const type: keyof typeof COMMON_CHECKS = 'RpcValidationFailed';
  return relayerDisabled({ type, details: cause });
}

/** The reason as answers and webhooks show it: the reference's keys, and the time of the next check. */
export function disabledView({ nextCheckAt, ...reason }: DisabledReason): JsonObject {
  const details =
    typeof reason.details === 'string' ? reason.details : reason.details.map((cause): JsonObject => ({ ...cause }));
  return { type: reason.type, details, ...(nextCheckAt === undefined ? {} : { next_check_at: wireTime(nextCheckAt) }) };
}
