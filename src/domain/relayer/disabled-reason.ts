import { AppError } from '../errors.ts';
import type { JsonObject } from '../json/json.ts';
import { wireTime } from '../wire-time.ts';
import type { COMMON_CHECKS, DisabledReason } from './relayer.ts';

/** The longest text that is shown. Causes may repeat what a node said at length. */
const MAX_TEXT = 1_000;

/** The reason in one line, for a client that is refused because of it. */
export function disabledText(reason: DisabledReason): string {
  const details = typeof reason.details === 'string' ? [reason.details] : reason.details.map((cause) => cause.details);
  const text = [...new Set(details)].join('; ').slice(0, MAX_TEXT);
  return reason.nextCheckAt === undefined ? text : `${text} (checked again at ${wireTime(reason.nextCheckAt)})`;
}

/** The refusal of a request to a disabled relayer. */
export function relayerDisabled(reason: DisabledReason): AppError<'RELAYER_DISABLED'> {
  return new AppError('RELAYER_DISABLED', { reason: disabledText(reason) }, { disabledReason: reason });
}

/**
 * The reason of a relayer whose network no check has reached yet, so that nobody knows on which chain it is. It has no
 * time of a next check, because the first one is under way.
 */
export function notReachedYet(network?: string): DisabledReason {
  const details = network === undefined ? 'its network was not reached yet' : `network ${network} was not reached yet`;
  const type: keyof typeof COMMON_CHECKS = 'RpcValidationFailed';
  return { type, details };
}

/** Whether a check has disabled the relayer; false also before its first check has ended. */
export function isDisabledByCheck(reason: DisabledReason | null): boolean {
  return reason?.nextCheckAt !== undefined;
}

/** The refusal of a request to a relayer whose network was not reached yet. */
export function networkNotReached(network?: string): AppError<'RELAYER_DISABLED'> {
  return relayerDisabled(notReachedYet(network));
}

/** The reason as answers and webhooks show it: the reference's keys, and the time of the next check. */
export function disabledView({ nextCheckAt, ...reason }: DisabledReason): JsonObject {
  const details =
    typeof reason.details === 'string' ? reason.details : reason.details.map((cause): JsonObject => ({ ...cause }));
  return { type: reason.type, details, ...(nextCheckAt === undefined ? {} : { next_check_at: wireTime(nextCheckAt) }) };
}
