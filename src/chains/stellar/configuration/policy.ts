import { z } from 'zod';
import { amountOf, type JsonAmount } from '../../../domain/amount.ts';
import { strictObjectSchema } from '../../../domain/json/issue-text.ts';
import { type JsonObject, memoizePerObject, type WireObject } from '../../../domain/json/json.ts';
import type { SwapSchedule } from '../../chain.ts';
import {
  cronScheduleSchema,
  feeMarginSchema,
  feePaymentStrategySchema,
  int32,
  int64,
  SWAP_NEEDS_USER_FEES,
  slippageSchema,
  tokenSwapConfigSchema,
  tokenSwapView,
  uint64,
  wireAmount,
  withoutNulls,
  withoutUndefined,
} from '../../policy-fields.ts';
import { isAccountAddress, isContractAddress } from '../address.ts';

const asset = z.string().superRefine((text, context) => {
  const fault = assetFault(text);
  if (fault !== null) context.addIssue({ code: 'custom', message: fault });
});

/** Why a text names no asset, in the reference's words; null when it does. */
export function assetFault(text: string): string | null {
  if (['native', 'XLM', ''].includes(text) || isContractAddress(text)) return null;
  const [code = '', issuer, ...more] = text.split(':');
  if (issuer === undefined || more.length > 0) {
    return "Asset identifier must be 'native', 'XLM', 'CODE:ISSUER', or a contract address";
  }
  if (code.length < 1 || code.length > 12) return 'Asset code must be between 1 and 12 characters';
  if (!/^[A-Za-z0-9]+$/.test(code)) return 'Asset code must contain only alphanumeric characters';
  if (issuer.length !== 56) return 'Issuer address must be 56 characters long';
  if (!issuer.startsWith('G')) return "Issuer address must start with 'G'";
  return isAccountAddress(issuer) ? null : 'Issuer address must be a valid Stellar address';
}

/** What the service finds out about an asset. */
const assetMetadata = strictObjectSchema({
  kind: z
    .union([
      z.literal('native'),
      strictObjectSchema({
        classic: strictObjectSchema({
          code: z.string().describe('Code of the asset'),
          issuer: z.string().describe('Account that issues the asset'),
        }).describe('Asset of the ledger'),
      }),
      strictObjectSchema({
        contract: strictObjectSchema({ contract_id: z.string().describe('Address of the contract') }).describe(
          'Token of a contract',
        ),
      }),
    ])
    .describe('Kind of token'),
  decimals: z.int().min(0).max(4_294_967_295).describe('Decimals of the token'),
  canonical_asset_id: z.string().describe('Canonical name of the token'),
});

const allowedToken = strictObjectSchema({
  asset: asset.describe('Token: native, CODE:ISSUER or a contract (C…)'),
  metadata: assetMetadata.nullish().describe('Facts about the token; shown in the API, no effect'),
  max_allowed_fee: uint64.nullish().describe('Maximum fee in this token, in its smallest unit. Default: no limit'),
  swap_config: tokenSwapConfigSchema.nullish().describe('How the token is swapped for XLM'),
});

const swapStrategy = z.enum(['order-book', 'soroswap']);

const swapConfig = strictObjectSchema({
  strategies: z.array(swapStrategy).nullish().describe('Markets for swaps; the first that can swap a token is used'),
  cron_schedule: cronScheduleSchema
    .nullish()
    .describe('When to swap: a cron line with seconds, in UTC. Default: at no fixed times'),
  min_balance_threshold: uint64.nullish().describe('Balance below which swaps start too, in stroops. Default: none'),
}).refine(({ strategies }) => strategies != null && strategies.length > 0, {
  path: ['strategies'],
  error: 'Swap config must include at least one strategy',
});

/** In the order in which answers show them. */
const fields = strictObjectSchema({
  fee_payment_strategy: feePaymentStrategySchema.nullish().describe('Who pays the fees'),
  min_balance: int64.nullish().describe('Minimum balance that stays on the account, in stroops. Default: 1000000'),
  max_fee: int32.nullish().describe('Maximum fee of a transaction, in stroops'),
  timeout_seconds: int64.nullish().describe('How long a transaction is valid after signing, in seconds. Default: 120'),
  concurrent_transactions: z.boolean().nullish().describe('Accepted for compatibility; has no effect'),
  slippage_percentage: slippageSchema.nullish().describe('Maximum price slippage, in percent. Default: 1'),
  own_funds: z
    .enum(['allow', 'deny'])
    .nullish()
    .describe('Whether clients may move what the account holds; deny: it only pays fees. Default: allow'),
  fee_margin_percentage: feeMarginSchema
    .nullish()
    .describe('Margin on top of an estimated fee, in percent. Default: 0'),
  allowed_tokens: z.array(allowedToken).nullish().describe('Allowed tokens for paying fees. Default: any'),
  swap_config: swapConfig.nullish().describe('When and how collected tokens are swapped for XLM. Default: never'),
})
  .superRefine((policies, context) => {
    if (policies.fee_payment_strategy != null) return;
    const isEmpty = Object.values(policies).every((value) => value == null);
    const missing = isEmpty
      ? 'Stellar policy is required. fee_payment_strategy is required'
      : 'Fee payment strategy is required';
    context.addIssue({ code: 'custom', path: ['fee_payment_strategy'], message: missing });
  })
  .refine(({ fee_payment_strategy: payer, swap_config: swap }) => swap == null || payer !== 'relayer', {
    path: ['swap_config'],
    error: SWAP_NEEDS_USER_FEES,
  })
  .meta({ required: ['fee_payment_strategy'] });

/** A Stellar relayer's policies, which must say who pays. Null means unset, and unset fields are left out. */
export const policySchema: z.ZodType<JsonObject> = fields.transform(withoutNulls);

/** In stroops. */
const DEFAULT_MIN_BALANCE = 1_000_000n;

/** How long a transaction is valid where the policy does not say, in seconds: the reference's value. */
const DEFAULT_TIMEOUT = 120;

/** A relayer's policies as the adapter works with them. */
export interface StellarPolicy {
  feePayer: 'user' | 'relayer';
  minBalance: bigint;
  /** The most that a transaction's fee may be, in stroops; null where the policy does not say. */
  maxFee: bigint | null;
  /** How long an own transaction is valid. */
  timeoutSeconds: number;
  /** The same, but null where the policy does not say. */
  longestSeconds: number | null;
  /** Whether clients may move what the account holds. */
  isSpendable: boolean;
  /** What comes on top of an estimated fee, in percent. */
  feeMargin: number;
  /** In which fees may be paid; empty: in any. */
  allowedTokens: readonly AllowedToken[];
  /** By how much a price may have moved, in percent, where no token says it. */
  slippage: number;
  /** How tokens that users have paid are swapped for lumens; null where the policy does not say. */
  swaps: SwapPolicy | null;
}

export interface SwapPolicy {
  /** The first that can handle an asset is used. */
  strategies: readonly SwapStrategy[];
  cron: string | null;
  /** A balance below this also triggers a swap, in stroops. */
  below: bigint | null;
}

export type SwapStrategy = z.output<typeof swapStrategy>;

export interface AllowedToken {
  /** The canonical name: `native`, `CODE:ISSUER` or a contract. */
  asset: string;
  /** The most that a fee in the token may be, in its smallest unit; null where the policy does not say. */
  maxFee: bigint | null;
  slippage: number | null;
  /** The least and the most that a swap takes of the token, and what is never swapped; in its smallest unit. */
  swapped: { least: bigint; most: bigint | null; retained: bigint };
}

/** The reference's value, in percent. */
const DEFAULT_SLIPPAGE = 1;

/** The canonical name of an asset. The coin has three names. */
export function canonicalAsset(asset: string): string {
  return asset === '' || asset === 'XLM' ? 'native' : asset;
}

export const readPolicy = memoizePerObject((policies: JsonObject): StellarPolicy => {
  const known = fields.parse(policies);
  const longestSeconds = Number(known.timeout_seconds ?? 0) || null;
  return {
    // Where the policy never said who pays, the relayer pays for nobody.
    feePayer: known.fee_payment_strategy ?? 'user',
    minBalance: known.min_balance == null ? DEFAULT_MIN_BALANCE : amountOf(known.min_balance),
    maxFee: known.max_fee == null ? null : BigInt(known.max_fee),
    timeoutSeconds: longestSeconds ?? DEFAULT_TIMEOUT,
    longestSeconds,
    isSpendable: known.own_funds !== 'deny',
    feeMargin: known.fee_margin_percentage ?? 0,
    slippage: known.slippage_percentage ?? DEFAULT_SLIPPAGE,
    allowedTokens: (known.allowed_tokens ?? []).map(readToken),
    swaps: known.swap_config == null ? null : readSwaps(known.swap_config),
  };
});

function readToken({ asset, max_allowed_fee: maxFee, swap_config: swap }: z.output<typeof allowedToken>): AllowedToken {
  return {
    asset: canonicalAsset(asset),
    maxFee: amountOrNull(maxFee),
    slippage: swap?.slippage_percentage ?? null,
    swapped: {
      least: amountOf(swap?.min_amount ?? 0),
      most: amountOrNull(swap?.max_amount),
      retained: amountOf(swap?.retain_min_amount ?? 0),
    },
  };
}

function readSwaps({ strategies, cron_schedule, min_balance_threshold }: z.output<typeof swapConfig>): SwapPolicy {
  return {
    strategies: strategies ?? [],
    cron: cron_schedule ?? null,
    below: amountOrNull(min_balance_threshold),
  };
}

function amountOrNull(amount: JsonAmount | null | undefined): bigint | null {
  return amount == null ? null : amountOf(amount);
}

/** When tokens that users have paid are swapped; undefined where they never are, as where users do not pay. */
export function swapSchedule(policies: JsonObject): SwapSchedule | undefined {
  if (policies['swap_config'] === undefined) return undefined;
  const { swaps, feePayer, allowedTokens } = readPolicy(policies);
  if (swaps === null || feePayer !== 'user' || allowedTokens.length === 0) return undefined;
  return { cron: swaps.cron, below: swaps.below };
}

/** The balance that the health check asks for, in stroops. */
export function minimumBalance(policies: JsonObject): bigint {
  return readPolicy(policies).minBalance;
}

/** Policies as the API shows them; nothing when none is set. */
export function policyView(policies: JsonObject): WireObject | undefined {
  if (Object.keys(policies).length === 0) return undefined;
  const known = fields.parse(policies);
  return withoutUndefined({
    fee_payment_strategy: known.fee_payment_strategy ?? undefined,
    min_balance: wireAmount(known.min_balance) ?? DEFAULT_MIN_BALANCE,
    max_fee: known.max_fee ?? undefined,
    timeout_seconds: wireAmount(known.timeout_seconds),
    concurrent_transactions: known.concurrent_transactions ?? undefined,
    own_funds: known.own_funds ?? undefined,
    slippage_percentage: known.slippage_percentage ?? undefined,
    fee_margin_percentage: known.fee_margin_percentage ?? undefined,
    allowed_tokens: known.allowed_tokens?.map(tokenView),
    swap_config: known.swap_config == null ? undefined : swapView(known.swap_config),
  });
}

function tokenView(token: z.output<typeof allowedToken>): WireObject {
  return withoutUndefined({
    asset: token.asset,
    metadata: token.metadata ?? undefined,
    max_allowed_fee: wireAmount(token.max_allowed_fee),
    swap_config: token.swap_config == null ? undefined : tokenSwapView(token.swap_config),
  });
}

/** Inside swap settings unset fields are shown as null. */
function swapView(swap: z.output<typeof swapConfig>): WireObject {
  return {
    strategies: swap.strategies ?? [],
    cron_schedule: swap.cron_schedule ?? null,
    min_balance_threshold: wireAmount(swap.min_balance_threshold) ?? null,
  };
}
