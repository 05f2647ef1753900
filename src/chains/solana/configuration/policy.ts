import { z } from 'zod';
import { amountOf, type JsonAmount } from '../../../domain/amount.ts';
import { strictObjectSchema } from '../../../domain/json/issue-text.ts';
import { type JsonObject, memoizePerObject, type WireObject } from '../../../domain/json/json.ts';
import {
  cronScheduleSchema,
  feeMarginSchema,
  feePaymentStrategySchema,
  int32,
  int64,
  SWAP_NEEDS_USER_FEES,
  tokenSwapConfigSchema,
  tokenSwapView,
  uint64,
  wireAmount,
  withoutNulls,
  withoutUndefined,
} from '../../policy-fields.ts';
import { isAddress } from '../address.ts';

/** The most bytes of a legacy transaction, and of one of version 0: as many as a packet carries. */
export const MAX_TRANSACTION = 1232;

const address = z.string().refine(isAddress, 'Public key must be a valid Solana address');

const addresses = z.array(address).nullish();

const allowedToken = strictObjectSchema({
  mint: address.describe('Address of the token’s mint'),
  decimals: z.int().min(0).max(255).nullish().describe('Decimals of the token; used only if its mint cannot be read'),
  symbol: z.string().nullish().describe('Symbol of the token; used only if its metadata has none'),
  max_allowed_fee: uint64.nullish().describe('Maximum fee in this token, in its smallest unit. Default: no limit'),
  swap_config: tokenSwapConfigSchema.nullish().describe('How the token is swapped for SOL'),
});

const PRIORITY_LEVELS = ['medium', 'high', 'veryHigh'] as const;

const jupiterSwapOptions = strictObjectSchema({
  priority_fee_max_lamports: uint64
    .refine((most) => most !== 0, 'Max lamports must be greater than 0')
    .nullish()
    .describe('Maximum priority fee, in lamports; required with priority_level'),
  priority_level: z
    .enum(PRIORITY_LEVELS, {
      error: ({ input }) =>
        input === ''
          ? 'Priority level cannot be empty'
          : `Priority level must be one of: ${PRIORITY_LEVELS.join(', ')}`,
    })
    .nullish()
    .describe('Priority of the swap; required with priority_fee_max_lamports'),
  dynamic_compute_unit_limit: z
    .boolean()
    .nullish()
    .describe('Whether Jupiter simulates to find the compute unit limit. Default: false'),
})
  .refine(({ priority_fee_max_lamports: most, priority_level: level }) => level == null || most != null, {
    path: ['priority_fee_max_lamports'],
    error: 'Priority Fee Max lamports must be set if priority level is set',
  })
  .refine(({ priority_fee_max_lamports: most, priority_level: level }) => most == null || level != null, {
    path: ['priority_level'],
    error: 'Priority level must be set if priority fee max lamports is set',
  });

const swapConfig = strictObjectSchema({
  strategy: z
    .enum(['jupiter-swap', 'jupiter-ultra', 'noop'])
    .nullish()
    .describe('Market for swaps; noop swaps nothing. Default: noop'),
  cron_schedule: cronScheduleSchema
    .nullish()
    .describe('When to swap: a cron line with seconds, in UTC. Default: at no fixed times'),
  min_balance_threshold: uint64.nullish().describe('Balance below which swaps start too, in lamports. Default: none'),
  jupiter_swap_options: jupiterSwapOptions.nullish().describe('Options for the strategy jupiter-swap'),
}).refine(({ strategy, jupiter_swap_options: options }) => options == null || strategy === 'jupiter-swap', {
  path: ['jupiter_swap_options'],
  error: 'JupiterSwap options are only valid for JupiterSwap strategy',
});

/** In the order in which answers show them. */
const fields = strictObjectSchema({
  allowed_programs: addresses.describe('Allowed programs, also those that other programs call. Default: any'),
  allowed_accounts: addresses.describe('Allowed accounts in transactions. Default: any'),
  disallowed_accounts: addresses.describe('Forbidden accounts in transactions; not together with allowed_accounts'),
  max_signatures: int32.nullish().describe('Maximum number of signatures of a transaction. Default: no limit'),
  max_tx_data_size: int32
    .nullish()
    .describe('Maximum size of a transaction, in bytes. Default: 1232, the network limit'),
  min_balance: int64.nullish().describe('Minimum balance that stays on the account, in lamports. Default: 10000000'),
  allowed_tokens: z.array(allowedToken).nullish().describe('Allowed tokens for fees and transfers. Default: any'),
  fee_payment_strategy: feePaymentStrategySchema.nullish().describe('Who pays the fees. Default: user'),
  own_funds: z
    .enum(['allow', 'deny'])
    .nullish()
    .describe(
      'Whether transactions that only the relayer signs may spend what it holds; only where it pays the fees. Default: allow',
    ),
  fee_margin_percentage: feeMarginSchema
    .nullish()
    .describe('Margin on top of an estimated fee, in percent. Default: 0'),
  max_allowed_fee_lamports: int64
    .nullish()
    .describe('Maximum fee of a transaction, priority included, in lamports. Default: 10000000'),
  swap_config: swapConfig.nullish().describe('When and how collected tokens are swapped for SOL. Default: never'),
})
  .refine(({ allowed_accounts: allowed, disallowed_accounts: disallowed }) => allowed == null || disallowed == null, {
    path: ['disallowed_accounts'],
    error: 'allowed_accounts and disallowed_accounts cannot be both present',
  })
  .refine(({ fee_payment_strategy: payer, swap_config: swap }) => swap == null || payer !== 'relayer', {
    path: ['swap_config'],
    error: SWAP_NEEDS_USER_FEES,
  })
  .refine(({ fee_payment_strategy: payer, own_funds: ownFunds }) => ownFunds !== 'allow' || payer === 'relayer', {
    path: ['own_funds'],
    error: 'allow needs fee_payment_strategy relayer: where users pay, nothing spends what the relayer holds',
  });

/** A Solana relayer's policies. Null means unset, and unset fields are left out. */
export const policySchema: z.ZodType<JsonObject> = fields.transform(withoutNulls);

/** The strategies that trade with Jupiter, which serves one network only. The names are the reference's. */
const JUPITER_STRATEGIES = new Map([
  ['jupiter-swap', 'JupiterSwap'],
  ['jupiter-ultra', 'JupiterUltra'],
]);

/** Why the named network cannot serve checked policies; null when it can. */
export function policyFault(policies: JsonObject, network: string): string | null {
  const strategy = JUPITER_STRATEGIES.get(fields.parse(policies).swap_config?.strategy ?? '');
  if (strategy === undefined || network === 'mainnet-beta') return null;
  return `${strategy} strategy is only supported on mainnet-beta`;
}

const DEFAULT_MIN_BALANCE = 10_000_000n;

/**
 * The bound where the policies set none. A client's transaction names its own price, and could take the whole balance.
 */
const DEFAULT_MAX_FEE = 10_000_000n;

/** A relayer's policies as the adapter works with them. */
export interface SolanaPolicy {
  /** Null allows all. */
  allowedPrograms: ReadonlySet<string> | null;
  allowedAccounts: ReadonlySet<string> | null;
  disallowedAccounts: ReadonlySet<string>;
  mostSignatures: number | null;
  /** In bytes, signatures included. */
  largestTransaction: number;
  /** Stays on the account, in lamports. */
  minBalance: bigint;
  /** Empty allows all. */
  allowedTokens: readonly AllowedToken[];
  feePayer: 'user' | 'relayer';
  /** Whether the relayer's own transactions may spend what it holds. Nothing does where users pay. */
  ownFunds: 'allow' | 'deny';
  /** In percent. */
  feeMargin: number;
  /** The most that one transaction may cost, in lamports; null where the policies do not say. */
  maxFee: bigint | null;
  /** The most that the network is paid for one transaction: `maxFee`, or a default. */
  mostFee: bigint;
  /** Null where nothing is swapped. */
  swaps: SwapPolicy | null;
}

/** How and when a relayer's collected tokens are swapped for SOL. */
export interface SwapPolicy {
  strategy: 'jupiter-swap' | 'jupiter-ultra';
  cron: string | null;
  /** In lamports: a balance below this also triggers a swap. */
  below: bigint | null;
  /** The priority level that the market is asked for, and the most that it may cost, in lamports. */
  priority: { level: string; most: bigint } | null;
  /** Whether the market finds the limit of compute units by a trial. */
  isLimitDynamic: boolean;
}

/** A token in which fees can be paid, or that transactions may move. */
export interface AllowedToken {
  mint: string;
  decimals: number | null;
  symbol: string | null;
  /** In the token's smallest unit. */
  maxFee: bigint | null;
  /** In percent. */
  slippage: number;
  /** The least and the most of one swap, and what is never swapped; in the token's smallest unit. */
  swapped: { least: bigint; most: bigint | null; retained: bigint };
}

const DEFAULT_SLIPPAGE = 1;

/** Reads a relayer's policies. */
export const readPolicy = memoizePerObject((policies: JsonObject): SolanaPolicy => {
  const known = fields.parse(policies);
  return {
    allowedPrograms: known.allowed_programs == null ? null : new Set(known.allowed_programs),
    allowedAccounts: known.allowed_accounts == null ? null : new Set(known.allowed_accounts),
    disallowedAccounts: new Set(known.disallowed_accounts),
    mostSignatures: known.max_signatures ?? null,
    largestTransaction: known.max_tx_data_size ?? MAX_TRANSACTION,
    minBalance: known.min_balance == null ? DEFAULT_MIN_BALANCE : amountOf(known.min_balance),
    allowedTokens: (known.allowed_tokens ?? []).map(readToken),
    feePayer: known.fee_payment_strategy ?? 'user',
    ownFunds: known.own_funds ?? 'allow',
    feeMargin: known.fee_margin_percentage ?? 0,
    maxFee: optional(known.max_allowed_fee_lamports),
    mostFee: optional(known.max_allowed_fee_lamports) ?? DEFAULT_MAX_FEE,
    swaps: known.swap_config == null ? null : readSwaps(known.swap_config),
  };
});

function readToken(token: z.output<typeof allowedToken>): AllowedToken {
  const swap = token.swap_config;
  return {
    mint: token.mint,
    decimals: token.decimals ?? null,
    symbol: token.symbol ?? null,
    maxFee: optional(token.max_allowed_fee),
    slippage: swap?.slippage_percentage ?? DEFAULT_SLIPPAGE,
    swapped: {
      least: optional(swap?.min_amount) ?? 0n,
      most: optional(swap?.max_amount),
      retained: optional(swap?.retain_min_amount) ?? 0n,
    },
  };
}

/** Null also for the strategy that does nothing. */
function readSwaps(swap: z.output<typeof swapConfig>): SwapPolicy | null {
  const { strategy, jupiter_swap_options: options } = swap;
  if (strategy == null || strategy === 'noop') return null;
  const most = optional(options?.priority_fee_max_lamports);
  return {
    strategy,
    cron: swap.cron_schedule ?? null,
    below: optional(swap.min_balance_threshold),
    priority: options?.priority_level == null || most === null ? null : { level: options.priority_level, most },
    isLimitDynamic: options?.dynamic_compute_unit_limit ?? false,
  };
}

function optional(amount: JsonAmount | null | undefined): bigint | null {
  return amount == null ? null : amountOf(amount);
}

/** When swaps are due; undefined where they never are. */
export function swapSchedule(policies: JsonObject): { cron: string | null; below: bigint | null } | undefined {
  if (policies['swap_config'] === undefined) return undefined;
  const { swaps, allowedTokens } = readPolicy(policies);
  if (swaps === null || allowedTokens.length === 0) return undefined;
  return { cron: swaps.cron, below: swaps.below };
}

/** The balance that the health check asks for, in lamports. */
export function minimumBalance(policies: JsonObject): bigint {
  return readPolicy(policies).minBalance;
}

/** Policies as the API shows them; nothing when none is set. */
export function policyView(policies: JsonObject): WireObject | undefined {
  if (Object.keys(policies).length === 0) return undefined;
  const known = fields.parse(policies);
  return withoutUndefined({
    allowed_programs: known.allowed_programs ?? undefined,
    allowed_accounts: known.allowed_accounts ?? undefined,
    disallowed_accounts: known.disallowed_accounts ?? undefined,
    max_signatures: known.max_signatures ?? undefined,
    max_tx_data_size: known.max_tx_data_size ?? MAX_TRANSACTION,
    min_balance: wireAmount(known.min_balance) ?? DEFAULT_MIN_BALANCE,
    allowed_tokens: known.allowed_tokens?.map(tokenView),
    fee_payment_strategy: known.fee_payment_strategy ?? undefined,
    own_funds: known.own_funds ?? undefined,
    fee_margin_percentage: known.fee_margin_percentage ?? undefined,
    max_allowed_fee_lamports: wireAmount(known.max_allowed_fee_lamports),
    swap_config: known.swap_config == null ? undefined : swapView(known.swap_config),
  });
}

function tokenView(token: z.output<typeof allowedToken>): WireObject {
  return withoutUndefined({
    mint: token.mint,
    decimals: token.decimals ?? undefined,
    symbol: token.symbol ?? undefined,
    max_allowed_fee: wireAmount(token.max_allowed_fee),
    swap_config: token.swap_config == null ? undefined : tokenSwapView(token.swap_config),
  });
}

/** Inside swap settings unset fields are shown as null. */
function swapView(swap: z.output<typeof swapConfig>): WireObject {
  const options = swap.jupiter_swap_options;
  return {
    strategy: swap.strategy ?? null,
    cron_schedule: swap.cron_schedule ?? null,
    min_balance_threshold: wireAmount(swap.min_balance_threshold) ?? null,
    jupiter_swap_options: options == null ? null : optionsView(options),
  };
}

function optionsView(options: z.output<typeof jupiterSwapOptions>): WireObject {
  return {
    priority_fee_max_lamports: wireAmount(options.priority_fee_max_lamports) ?? null,
    priority_level: options.priority_level ?? null,
    dynamic_compute_unit_limit: options.dynamic_compute_unit_limit ?? null,
  };
}
