import { z } from 'zod';
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
  tokenSwap,
  uint64,
  withoutUndefined,
  withUnsetAsNull,
} from '../../policy-fields.ts';
import { isAddress } from '../address.ts';

/** The most bytes of a legacy transaction, and of one of version 0: as many as a packet carries. */
export const MAX_TRANSACTION = 1232;

/** What the policies of a relayer are asked about, in the reference's order of faults. */
export interface SolanaSubjects {
  accounts: readonly string[];
  programs: readonly string[];
  /** How many signatures a transaction needs. */
  signatures: number;
  /** In bytes, signatures included. */
  size: number;
  /** The token that is moved, or that a fee is paid in: its mint. */
  token: string;
  /** What is paid to the network, in lamports. */
  fee: bigint;
  /** What a user is asked for, in lamports. */
  price: bigint;
  /** What a user pays in a token, in its smallest unit. */
  tokenFee: { mint: string; amount: bigint };
}

const { field, amount, policies } = policyKit<SolanaSubjects>();

const address = z.string().refine(isAddress, 'Public key must be a valid Solana address');

const addresses = z.array(address);

const allowedToken = fieldGroup({
  mint: required(address, 'Address of the token’s mint'),
  decimals: field(z.int().min(0).max(255), 'Decimals of the token; used only if its mint cannot be read'),
  symbol: field(z.string(), 'Symbol of the token; used only if its metadata has none'),
  max_allowed_fee: amount(uint64, 'Maximum fee in this token, in its smallest unit. Default: no limit'),
  swap_config: field(tokenSwap.schema, 'How the token is swapped for SOL', {
    show: (swap) => withUnsetAsNull(tokenSwap.show(swap)),
  }),
});

const PRIORITY_LEVELS = ['medium', 'high', 'veryHigh'] as const;

const priorityLevel = z.enum(PRIORITY_LEVELS, {
  error: ({ input }) =>
    input === '' ? 'Priority level cannot be empty' : `Priority level must be one of: ${PRIORITY_LEVELS.join(', ')}`,
});

const jupiterSwap = fieldGroup({
  priority_fee_max_lamports: amount(
    uint64.refine((most) => most !== 0, 'Max lamports must be greater than 0'),
    'Maximum priority fee, in lamports; required with priority_level',
  ),
  priority_level: field(priorityLevel, 'Priority of the swap; required with priority_fee_max_lamports'),
  dynamic_compute_unit_limit: field(
    z.boolean(),
    'Whether Jupiter simulates to find the compute unit limit. Default: false',
  ),
});

const jupiterSwapOptions = jupiterSwap.schema
  .refine(({ priority_fee_max_lamports: most, priority_level: level }) => level == null || most != null, {
    path: ['priority_fee_max_lamports'],
    error: 'Priority Fee Max lamports must be set if priority level is set',
  })
  .refine(({ priority_fee_max_lamports: most, priority_level: level }) => most == null || level != null, {
    path: ['priority_level'],
    error: 'Priority level must be set if priority fee max lamports is set',
  });

const swaps = fieldGroup({
  strategy: field(
    z.enum(['jupiter-swap', 'jupiter-ultra', 'noop']),
    'Market for swaps; noop swaps nothing. Default: noop',
  ),
  cron_schedule: field(
    cronScheduleSchema,
    'When to swap: a cron line with seconds, in UTC. Default: at no fixed times',
  ),
  min_balance_threshold: amount(uint64, 'Balance below which swaps start too, in lamports. Default: none'),
  jupiter_swap_options: field(jupiterSwapOptions, 'Options for the strategy jupiter-swap', {
    show: (options) => withUnsetAsNull(jupiterSwap.show(options)),
  }),
});

const swapConfig = swaps.schema.refine(
  ({ strategy, jupiter_swap_options: options }) => options == null || strategy === 'jupiter-swap',
  {
    path: ['jupiter_swap_options'],
    error: 'JupiterSwap options are only valid for JupiterSwap strategy',
  },
);

/**
 * The most that the network is paid for one transaction where the policies do not say. A client's transaction names its
 * own price, and could take the whole balance.
 */
export const DEFAULT_MAX_FEE = 10_000_000n;

function feeFault(fee: bigint, most: bigint | null): string | undefined {
  return most === null || fee <= most ? undefined : `Fee amount ${fee} exceeds max allowed fee amount ${most}`;
}

/** A Solana relayer's policies. */
export const solanaPolicies = policies(
  {
    allowed_programs: field(addresses, 'Allowed programs, also those that other programs call. Default: any', {
      read: (listed) => new Set(listed),
      forbids: {
        programs(allowed, programs) {
          const strange = programs.find((program) => allowed !== null && !allowed.has(program));
          return strange === undefined ? undefined : `Program ${strange} not allowed`;
        },
      },
    }),
    allowed_accounts: field(addresses, 'Allowed accounts in transactions. Default: any', {
      read: (listed) => new Set(listed),
      forbids: {
        accounts(allowed, accounts) {
          const strange = accounts.find((account) => allowed !== null && !allowed.has(account));
          return strange === undefined ? undefined : `Account ${strange} not allowed`;
        },
      },
    }),
    disallowed_accounts: field(addresses, 'Forbidden accounts in transactions; not together with allowed_accounts', {
      read: (listed) => new Set(listed),
      forbids: {
        accounts(barred, accounts) {
          const found = accounts.find((account) => barred?.has(account));
          return found === undefined ? undefined : `Account ${found} is explicitly disallowed`;
        },
      },
    }),
    max_signatures: field(int32, 'Maximum number of signatures of a transaction. Default: no limit', {
      forbids: {
        signatures: (most, count) =>
          most === null || count <= most
            ? undefined
            : `Transaction requires ${count} signatures, which exceeds maximum allowed ${most}`,
      },
    }),
    max_tx_data_size: field(int32, 'Maximum size of a transaction, in bytes. Default: 1232, the network limit', {
      unset: MAX_TRANSACTION,
      isAlwaysShown: true,
      forbids: {
        size: (most, size) => (size <= most ? undefined : `Transaction size ${size} exceeds maximum allowed ${most}`),
      },
    }),
    min_balance: amount(int64, 'Minimum balance that stays on the account, in lamports. Default: 10000000', {
      unset: 10_000_000n,
      isAlwaysShown: true,
    }),
    allowed_tokens: field(z.array(allowedToken.schema), 'Allowed tokens for fees and transfers. Default: any', {
      read: (tokens) => tokens.map(readToken),
      unset: [] as readonly AllowedToken[],
      show: (tokens) => tokens.map((token) => withoutUndefined(allowedToken.show(token))),
      forbids: {
        token: (allowed, mint) =>
          allowed.length === 0 || allowed.some((token) => token.mint === mint)
            ? undefined
            : `Token ${mint} not allowed for transfers`,
        tokenFee(allowed, { mint, amount: paid }) {
          const most = allowed.find((token) => token.mint === mint)?.maxFee ?? null;
          return most === null || paid <= most
            ? undefined
            : `Fee amount ${paid} of ${mint} exceeds max allowed fee amount ${most}`;
        },
      },
    }),
    fee_payment_strategy: field(feePaymentStrategySchema, 'Who pays the fees. Default: user', { unset: 'user' }),
    own_funds: field(
      z.enum(['allow', 'deny']),
      'Whether transactions that only the relayer signs may spend what it holds; only where it pays the fees. Default: allow',
      { unset: 'allow' },
    ),
    fee_margin_percentage: field(feeMarginSchema, 'Margin on top of an estimated fee, in percent. Default: 0', {
      unset: 0,
    }),
    max_allowed_fee_lamports: amount(
      int64,
      'Maximum fee of a transaction, priority included, in lamports. Default: 10000000',
      {
        forbids: {
          fee: (most, fee) => feeFault(fee, most ?? DEFAULT_MAX_FEE),
          price: (most, price) => feeFault(price, most),
        },
      },
    ),
    swap_config: field(swapConfig, 'When and how collected tokens are swapped for SOL. Default: never', {
      read: readSwaps,
      show: (swap) => withUnsetAsNull(swaps.show(swap)),
    }),
  },
  (schema) =>
    schema
      .refine(
        ({ allowed_accounts: allowed, disallowed_accounts: disallowed }) => allowed == null || disallowed == null,
        {
          path: ['disallowed_accounts'],
          error: 'allowed_accounts and disallowed_accounts cannot be both present',
        },
      )
      .refine(({ fee_payment_strategy: payer, swap_config: swap }) => swap == null || payer !== 'relayer', {
        path: ['swap_config'],
        error: SWAP_NEEDS_USER_FEES,
      })
      .refine(({ fee_payment_strategy: payer, own_funds: ownFunds }) => ownFunds !== 'allow' || payer === 'relayer', {
        path: ['own_funds'],
        error: 'allow needs fee_payment_strategy relayer: where users pay, nothing spends what the relayer holds',
      }),
);

export const { read: readPolicy, fault: policyFault } = solanaPolicies;

/** A relayer's policies as the adapter works with them. */
export type SolanaPolicy = ReturnType<typeof readPolicy>;

/** The strategies that trade with Jupiter, which serves one network only. The names are the reference's. */
const JUPITER_STRATEGIES = { 'jupiter-swap': 'JupiterSwap', 'jupiter-ultra': 'JupiterUltra' } as const;

/** Why the named network cannot serve checked policies; null when it can. */
export function networkPolicyFault(stored: JsonObject, network: string): string | null {
  const { swapConfig: swap } = readPolicy(stored);
  if (swap === null || network === 'mainnet-beta') return null;
  return `${JUPITER_STRATEGIES[swap.strategy]} strategy is only supported on mainnet-beta`;
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
  swapped: SwapAmounts;
}

const DEFAULT_SLIPPAGE = 1;

function readToken(token: z.output<typeof allowedToken.schema>): AllowedToken {
  const swap = token.swap_config;
  return {
    mint: token.mint,
    decimals: token.decimals ?? null,
    symbol: token.symbol ?? null,
    maxFee: amountOrNull(token.max_allowed_fee),
    slippage: swap?.slippage_percentage ?? DEFAULT_SLIPPAGE,
    swapped: readSwapAmounts(swap),
  };
}

/** Null also for the strategy that does nothing. */
function readSwaps(swap: z.output<typeof swapConfig>): SwapPolicy | null {
  const { strategy, jupiter_swap_options: options } = swap;
  if (strategy == null || strategy === 'noop') return null;
  const most = amountOrNull(options?.priority_fee_max_lamports);
  return {
    strategy,
    cron: swap.cron_schedule ?? null,
    below: amountOrNull(swap.min_balance_threshold),
    priority: options?.priority_level == null || most === null ? null : { level: options.priority_level, most },
    isLimitDynamic: options?.dynamic_compute_unit_limit ?? false,
  };
}

/** When swaps are due; undefined where they never are. */
export function swapSchedule(stored: JsonObject): SwapSchedule | undefined {
  if (stored['swap_config'] === undefined) return undefined;
  const { swapConfig: swap, allowedTokens } = readPolicy(stored);
  if (swap === null || allowedTokens.length === 0) return undefined;
  return { cron: swap.cron, below: swap.below };
}
