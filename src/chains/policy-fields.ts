import { z } from 'zod';
import { amountOf, amountUpTo, type JsonAmount } from '../domain/amount.ts';
import { isCronSchedule } from '../domain/cron-schedule.ts';
import { strictObjectSchema } from '../domain/json/issue-text.ts';
import type { Json, JsonObject, WireObject } from '../domain/json/json.ts';

/** A whole number of the seed's format `int32`, not negative. */
export const int32 = z.int().min(0).max(2_147_483_647);

/** A whole number of the seed's format `int64`, not negative. */
export const int64 = amountUpTo((1n << 63n) - 1n).meta({ type: 'integer', format: 'int64', minimum: 0 });

/** A whole number of 64 bits without a sign, as in the reference. For fields that the seed does not show. */
export const uint64 = amountUpTo((1n << 64n) - 1n).meta({ type: 'integer', format: 'uint64', minimum: 0 });

/** Who pays the fees of a relayer's transactions. */
export const feePaymentStrategySchema = z.enum(['user', 'relayer']);

/** The margin on top of an estimated fee, in percent. */
export const feeMarginSchema = z.float32().min(0, 'Negative fee margin percentage values are not accepted');

const SLIPPAGE_BOUNDS = 'Slippage percentage must be between 0 and 100';

/** By how much a price may have moved, in percent. */
export const slippageSchema = z.float32().min(0, SLIPPAGE_BOUNDS).max(100, SLIPPAGE_BOUNDS);

/** When tokens are swapped for the chain's coin. */
export const cronScheduleSchema = z
  .string()
  .min(1, 'Empty cron schedule is not accepted')
  .refine((text) => text === '' || isCronSchedule(text), 'Invalid cron schedule format');

/** The error for swaps of a relayer whose own account pays the fees. */
export const SWAP_NEEDS_USER_FEES = 'Swap config only supported for user fee payment strategy';

/** How one allowed token is swapped. */
export const tokenSwapConfigSchema = strictObjectSchema({
  slippage_percentage: slippageSchema
    .nullish()
    .describe('Maximum price slippage, in percent. Default: that of the policies, else 1'),
  min_amount: uint64.nullish().describe('Minimum amount of one swap, in the smallest unit of the token. Default: 0'),
  max_amount: uint64
    .nullish()
    .describe('Maximum amount of one swap, in the smallest unit of the token. Default: no limit'),
  retain_min_amount: uint64
    .nullish()
    .describe('Amount that is never swapped, in the smallest unit of the token. Default: 0'),
});

/** {@link tokenSwapConfigSchema} in answers, where unset fields of swap settings are null. */
export function tokenSwapView(config: z.output<typeof tokenSwapConfigSchema>): WireObject {
  return {
    slippage_percentage: config.slippage_percentage ?? null,
    min_amount: wireAmount(config.min_amount) ?? null,
    max_amount: wireAmount(config.max_amount) ?? null,
    retain_min_amount: wireAmount(config.retain_min_amount) ?? null,
  };
}

/** An amount as answers write it: an integer with all its digits. */
export function wireAmount(amount: JsonAmount | null | undefined): bigint | undefined {
  return amount === null || amount === undefined ? undefined : amountOf(amount);
}

/** The fields that have a value, as answers show them. */
export function withoutUndefined(view: WireObject): WireObject {
  return Object.fromEntries(Object.entries(view).filter(([, value]) => value !== undefined));
}

/** Policies without what is null at any depth, since null means unset. */
export function withoutNulls(policies: Readonly<Record<string, unknown>>): JsonObject {
  const set = Object.entries(policies).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(set.map(([key, value]) => [key, setParts(value)]));
}

function setParts(value: unknown): Json {
  if (Array.isArray(value)) return value.map(setParts);
  return typeof value === 'object' && value !== null
    ? withoutNulls(value as Readonly<Record<string, unknown>>)
    : (value as Json);
}
