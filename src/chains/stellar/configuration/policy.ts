import { z } from 'zod';
import { strictObjectSchema } from '../../../domain/json/issue-text.ts';
import type { JsonObject } from '../../../domain/json/json.ts';
import type { SwapSchedule } from '../../chain.ts';
import {
  amountOrNull,
  cronScheduleSchema,
  feeMarginSchema,
  feePaymentStrategySchema,
  fieldGroup,
  int32,
  int64,
  policyKit,
  readSwapAmounts,
  required,
  SWAP_NEEDS_USER_FEES,
  type SwapAmounts,
  slippageSchema,
  tokenSwap,
  uint64,
  withoutUndefined,
  withUnsetAsNull,
} from '../../policy-fields.ts';
import { isAccountAddress, isContractAddress } from '../address.ts';

/** What the policies of a relayer are asked about. */
export interface StellarSubjects {
  /** What a transaction bids, or has to bid, in stroops. */
  fee: bigint;
  /** The least that a transaction of the relayer's own has to bid, in stroops. */
  ownFee: bigint;
  /** Where an envelope moves what the relayer's account holds; below zero where it does not. */
  outflow: { operation: number; relayer: string };
  /** The token that a user pays in, by all its names. */
  feeToken: readonly [shown: string, ...others: string[]];
}

const { field, amount, policies } = policyKit<StellarSubjects>();

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

const allowedToken = fieldGroup({
  asset: required(asset, 'Token: native, CODE:ISSUER or a contract (C…)'),
  metadata: field(assetMetadata, 'Facts about the token; shown in the API, no effect'),
  max_allowed_fee: amount(uint64, 'Maximum fee in this token, in its smallest unit. Default: no limit'),
  swap_config: field(tokenSwap.schema, 'How the token is swapped for XLM', {
    show: (swap) => withUnsetAsNull(tokenSwap.show(swap)),
  }),
});

const swapStrategy = z.enum(['order-book', 'soroswap']);

const swaps = fieldGroup({
  strategies: field(z.array(swapStrategy), 'Markets for swaps; the first that can swap a token is used'),
  cron_schedule: field(
    cronScheduleSchema,
    'When to swap: a cron line with seconds, in UTC. Default: at no fixed times',
  ),
  min_balance_threshold: amount(uint64, 'Balance below which swaps start too, in stroops. Default: none'),
});

const swapConfig = swaps.schema.refine(({ strategies }) => strategies != null && strategies.length > 0, {
  path: ['strategies'],
  error: 'Swap config must include at least one strategy',
});

/** The highest fee of a transaction: the protocol has 32 bits for it. */
export const MAX_FEE = 4_294_967_295n;

/**
 * The most that is bid for places in a ledger where the policy does not say, in stroops: the reference's bound for fee
 * bumps.
 */
export const DEFAULT_MAX_FEE_BID = 1_000_000n;

/** In the reference's words. */
export function maxFeeFault(fee: bigint, most: bigint | null): string | undefined {
  return most === null || fee <= most ? undefined : `Max fee exceeded: ${most}`;
}

/** A Stellar relayer's policies, which must say who pays. */
export const stellarPolicies = policies(
  {
    // Where a stored policy does not say who pays, the relayer pays for nobody.
    fee_payment_strategy: field(feePaymentStrategySchema, 'Who pays the fees', { unset: 'user' }),
    min_balance: amount(int64, 'Minimum balance that stays on the account, in stroops. Default: 1000000', {
      unset: 1_000_000n,
      isAlwaysShown: true,
    }),
    max_fee: field(int32, 'Maximum fee of a transaction, in stroops', {
      read: BigInt,
      forbids: {
        fee: (most, fee) => maxFeeFault(fee, most),
        ownFee: (most, fee) => maxFeeFault(fee, most ?? DEFAULT_MAX_FEE_BID),
      },
    }),
    timeout_seconds: amount(int64, 'How long a transaction is valid after signing, in seconds. Default: 120', {
      // Zero stands for the default.
      read: (seconds) => Number(seconds) || null,
    }),
    concurrent_transactions: field(z.boolean(), 'Accepted for compatibility; has no effect'),
    slippage_percentage: field(slippageSchema, 'Maximum price slippage, in percent. Default: 1', { unset: 1 }),
    own_funds: field(
      z.enum(['allow', 'deny']),
      'Whether clients may move what the account holds; deny: it only pays fees. Default: allow',
      {
        unset: 'allow',
        forbids: {
          outflow: (ownFunds, { operation, relayer }) =>
            ownFunds === 'allow' || operation < 0
              ? undefined
              : `operations.${operation}: it moves what the relayer's account ${relayer} holds, and the policy own_funds denies that`,
        },
      },
    ),
    fee_margin_percentage: field(feeMarginSchema, 'Margin on top of an estimated fee, in percent. Default: 0', {
      unset: 0,
    }),
    allowed_tokens: field(z.array(allowedToken.schema), 'Allowed tokens for paying fees. Default: any', {
      read: (tokens) => tokens.map(readToken),
      unset: [] as readonly AllowedToken[],
      show: (tokens) => tokens.map((token) => withoutUndefined(allowedToken.show(token))),
      forbids: {
        feeToken: (allowed, names) =>
          allowed.length === 0 || allowed.some((token) => names.includes(token.asset))
            ? undefined
            : `Token ${names[0]} is not allowed for fees`,
      },
    }),
    swap_config: field(swapConfig, 'When and how collected tokens are swapped for XLM. Default: never', {
      read: readSwaps,
      show: (swap) => withUnsetAsNull(swaps.show(swap)),
    }),
  },
  (schema) =>
    schema
      .superRefine((stored, context) => {
        if (stored.fee_payment_strategy != null) return;
        const isEmpty = Object.values(stored).every((value) => value == null);
        const missing = isEmpty
          ? 'Stellar policy is required. fee_payment_strategy is required'
          : 'Fee payment strategy is required';
        context.addIssue({ code: 'custom', path: ['fee_payment_strategy'], message: missing });
      })
      .refine(({ fee_payment_strategy: payer, swap_config: swap }) => swap == null || payer !== 'relayer', {
        path: ['swap_config'],
        error: SWAP_NEEDS_USER_FEES,
      })
      .meta({ required: ['fee_payment_strategy'] }),
);

export const { read: readPolicy, fault: policyFault } = stellarPolicies;

/** A relayer's policies as the adapter works with them. */
export type StellarPolicy = ReturnType<typeof readPolicy>;

/** How long an own transaction is valid where the policy does not say, in seconds: the reference's value. */
const DEFAULT_TIMEOUT = 120;

/** How long an own transaction is valid, in seconds. */
export function timeoutSecondsOf({ timeoutSeconds }: Pick<StellarPolicy, 'timeoutSeconds'>): number {
  return timeoutSeconds ?? DEFAULT_TIMEOUT;
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
  swapped: SwapAmounts;
}

/** The canonical name of an asset. The coin has three names. */
export function canonicalAsset(asset: string): string {
  return asset === '' || asset === 'XLM' ? 'native' : asset;
}

function readToken(token: z.output<typeof allowedToken.schema>): AllowedToken {
  return {
    asset: canonicalAsset(token.asset),
    maxFee: amountOrNull(token.max_allowed_fee),
    slippage: token.swap_config?.slippage_percentage ?? null,
    swapped: readSwapAmounts(token.swap_config),
  };
}

function readSwaps({ strategies, cron_schedule, min_balance_threshold }: z.output<typeof swapConfig>): SwapPolicy {
  return {
    strategies: strategies ?? [],
    cron: cron_schedule ?? null,
    below: amountOrNull(min_balance_threshold),
  };
}

/** When tokens that users have paid are swapped; undefined where they never are, as where users do not pay. */
export function swapSchedule(stored: JsonObject): SwapSchedule | undefined {
  if (stored['swap_config'] === undefined) return undefined;
  const { swapConfig: swap, feePaymentStrategy, allowedTokens } = readPolicy(stored);
  if (swap === null || feePaymentStrategy !== 'user' || allowedTokens.length === 0) return undefined;
  return { cron: swap.cron, below: swap.below };
}
