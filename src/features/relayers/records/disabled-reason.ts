import { z } from 'zod';
import type { JsonObject } from '../../../domain/json/json.ts';
import { wireTime } from '../../../domain/wire-time.ts';

/** One check that failed. The details are for people: what was seen, with its figures. */
export interface DisabledCause {
  /** One of {@link COMMON_RELAYER_CHECKS}, or the check that the relayer's family adds. */
  type: string;
  details: string;
}

/** The checks of every family: the type of the reason, and what clients are told first. */
export const COMMON_RELAYER_CHECKS = {
  RpcValidationFailed: 'RPC endpoint validation failed',
  BalanceCheckFailed: 'Insufficient balance',
  PolicyCheckFailed: 'Policies do not fit the network',
  SignerCheckFailed: 'The signer has another key',
} as const;

/** Why the service itself keeps a relayer from working, and when it looks again, in milliseconds since the epoch. */
export type DisabledReason = (DisabledCause | { type: 'Multiple'; details: DisabledCause[] }) & {
  nextCheckAt?: number | undefined;
};

const causeSchema = z.strictObject({ type: z.string(), details: z.string() });
const nextCheckAt = z.int().optional();
export const disabledReasonSchema: z.ZodType<DisabledReason> = z.union([
  causeSchema.extend({ nextCheckAt }),
  z.strictObject({ type: z.literal('Multiple'), details: z.array(causeSchema), nextCheckAt }),
]);

/** The longest text that is shown. Causes may repeat what a node said at length. */
const MAX_TEXT = 1_000;

/** The reason in one line, for a client that is refused because of it. */
export function disabledText(reason: DisabledReason): string {
  const details = typeof reason.details === 'string' ? [reason.details] : reason.details.map((cause) => cause.details);
  const text = [...new Set(details)].join('; ').slice(0, MAX_TEXT);
  return reason.nextCheckAt === undefined ? text : `${text} (checked again at ${wireTime(reason.nextCheckAt)})`;
}

/**
 * The reason of a relayer whose network no check has reached yet, so that nobody knows on which chain it is. It has no
 * time of a next check, because the first one is under way.
 */
export function notReachedYet(network?: string): DisabledReason {
  const details = network === undefined ? 'its network was not reached yet' : `network ${network} was not reached yet`;
  const type: keyof typeof COMMON_RELAYER_CHECKS = 'RpcValidationFailed';
  return { type, details };
}

/** Whether a check has disabled the relayer; false also before its first check has ended. */
export function isDisabledByCheck(reason: DisabledReason | null): boolean {
  return reason?.nextCheckAt !== undefined;
}

/** The reason as answers and webhooks show it: the reference's keys, and the time of the next check. */
export function disabledReasonView({ nextCheckAt, ...reason }: DisabledReason): JsonObject {
  const details =
    typeof reason.details === 'string' ? reason.details : reason.details.map((cause): JsonObject => ({ ...cause }));
  return { type: reason.type, details, ...(nextCheckAt === undefined ? {} : { next_check_at: wireTime(nextCheckAt) }) };
}
