import { z } from 'zod';
import { amountOf, amountSchema, type JsonAmount } from '../../domain/amount.ts';
import type { JsonObject } from '../../domain/json/json.ts';
import { oncePerObject } from '../../domain/json/once-per-object.ts';
import type { Network } from '../../domain/network.ts';
import { normalAddress } from './address.ts';
import { rpcAccessList, type StoredAccess, storedAccessListSchema } from './form/access-list.ts';
import { rpcAuthorizationList, type StoredAuthorization, storedAuthorizationListSchema } from './form/authorization.ts';
import { toData, toQuantity } from './provider.ts';

const gasPriceCacheSchema = z
  .strictObject({
    enabled: z.boolean().default(false).describe('Whether they may at all'),
    stale_after_ms: z
      .int()
      .min(1, 'Gas price cache stale_after_ms must be greater than zero')
      .default(20_000)
      .describe('Older ones are used and asked for anew'),
    expire_after_ms: z
      .int()
      .min(1, 'Gas price cache expire_after_ms must be greater than zero')
      .default(45_000)
      .describe('Older ones are not used'),
  })
  .refine(
    (cache) => cache.expire_after_ms > cache.stale_after_ms,
    'Gas price cache expire_after_ms must be greater than stale_after_ms',
  );

/**
 * The fields of an EVM network entry, after inheritance, beside `type`, `network`, `from` and `rpc_urls`. All may be
 * absent: the chain id is then asked for, and what hangs on it is decided when it is known.
 */
const settingsSchema = z.strictObject({
  chain_id: amountSchema(64).optional().describe('Absent: asked for at the first contact, and kept'),
  required_confirmations: z
    .int()
    .min(0)
    .max(1_000_000)
    .optional()
    .describe('Blocks on top of its own that make a transaction final; absent: 12, and 1 on chain ids 31337 and 1337'),
  symbol: z.string().min(1).default('ETH').describe('Of its coin'),
  features: z.array(z.string()).optional().describe('eip1559 where gas has a base fee; absent beside a chain_id: none'),
  average_blocktime_ms: z.int().min(1).max(86_400_000).default(12_000).describe('From one block to the next'),
  is_testnet: z.boolean().optional().describe('Shown, and nothing else'),
  tags: z
    .array(z.string())
    .optional()
    .describe('arbitrum-based, optimism-based, polygon-zkevm-based and no-mempool change how it is treated'),
  explorer_urls: z.array(z.url()).optional().describe('Kept, and used by nothing'),
  gas_price_cache: gasPriceCacheSchema.optional().describe('How long prices of the market may be used again'),
});

/** {@link settingsSchema} as the chain interface offers it; what is absent stays absent. */
export const networkSchema: z.ZodType<JsonObject> = settingsSchema.transform(
  (settings): JsonObject => JSON.parse(JSON.stringify(settings)) as JsonObject,
);

/** A network's settings as the adapter works with them. */
export interface EvmSettings {
  /** As declared; null when it has to be asked for. */
  declaredChainId: bigint | null;
  /** Blocks on top of a transaction's own that make it final, once the chain id is known. */
  confirmationsOn(chainId: bigint): bigint;
  /** Null when only a block can tell. */
  hasEip1559: boolean | null;
  averageBlocktimeMs: number;
  /** No pool in which a dearer attempt could replace another: what is too cheap is dropped, what is in goes first. */
  lacksMempool: boolean;
  isArbitrum: boolean;
  /** The chain takes a fee for its data on the chain below, beside gas. */
  isOptimism: boolean;
  /** Its nodes have price methods of their own. */
  isZkEvm: boolean;
  /** Null when the entry does not ask for one. */
  gasPriceCache: { staleAfterMs: number; expireAfterMs: number } | null;
}

/** The chain ids of anvil, hardhat and ganache, where every block is as good as final. */
const DEVELOPMENT_CHAINS = new Set([31_337n, 1_337n]);

/** Takes a network's settings apart. */
export function readSettings({ settings }: Network): EvmSettings {
  const known = settingsSchema.parse(settings);
  const declaredChainId = known.chain_id === undefined ? null : amountOf(known.chain_id);
  const hasTag = (tag: string) => known.tags?.includes(tag) === true;
  const isArbitrum = hasTag('arbitrum-based');
  const isOptimism = hasTag('optimism-based') || hasTag('optimism');
  const cache = known.gas_price_cache;
  return {
    declaredChainId,
    confirmationsOn: (chainId) => BigInt(known.required_confirmations ?? (DEVELOPMENT_CHAINS.has(chainId) ? 1 : 12)),
    // An entry that says its chain id is a whole one, in which absent features mean none, as in the reference.
    hasEip1559: known.features?.includes('eip1559') ?? (declaredChainId === null ? null : false),
    averageBlocktimeMs: known.average_blocktime_ms,
    lacksMempool: hasTag('no-mempool') || isArbitrum || isOptimism,
    isArbitrum,
    isOptimism,
    isZkEvm: hasTag('polygon-zkevm-based'),
    gasPriceCache:
      cache?.enabled === true ? { staleAfterMs: cache.stale_after_ms, expireAfterMs: cache.expire_after_ms } : null,
  };
}

/** What was asked, as {@link readRequest} reads it back from a stored transaction. */
export interface EvmRequest {
  /** As given; null creates a contract. */
  to: string | null;
  value: bigint;
  /** As given. */
  data: string | null;
  gasLimit: bigint | null;
  price: RequestedPrice;
  /** EIP-2930; empty when none was given. */
  accessList: readonly StoredAccess[];
  /** EIP-7702; empty when none was given. */
  authorizationList: readonly StoredAuthorization[];
  /** The errors of the called contract, as human-readable ABI entries; empty when none were given. */
  abi: readonly string[];
}

export type RequestedPrice =
  | { kind: 'speed'; speed: Speed }
  | { kind: 'legacy'; gasPrice: bigint }
  | { kind: 'eip1559'; maxFeePerGas: bigint; maxPriorityFeePerGas: bigint };

export const speedSchema = z.enum(['fastest', 'fast', 'average', 'safeLow']);

export type Speed = z.output<typeof speedSchema>;

const amount = amountSchema(256);

/** {@link import('../../domain/transaction/transaction.ts').Transaction.request}. */
const storedRequestSchema = z.strictObject({
  to: z.string().nullable(),
  value: z.string().regex(/^0x[0-9a-f]{1,64}$/),
  data: z.string().nullable(),
  gas_limit: amount.nullable(),
  gas_price: amount.nullable(),
  max_fee_per_gas: amount.nullable(),
  max_priority_fee_per_gas: amount.nullable(),
  speed: speedSchema.nullable(),
  // Left out when not asked for, as in requests that were stored before there were these.
  access_list: storedAccessListSchema.exactOptional(),
  authorization_list: storedAuthorizationListSchema.exactOptional(),
  abi: z.array(z.string()).exactOptional(),
});

export type StoredRequest = z.output<typeof storedRequestSchema>;

/** Reads a request back from the store. */
export const readRequest = oncePerObject((request: JsonObject): EvmRequest & { stored: StoredRequest } => {
  const stored = storedRequestSchema.parse(request);
  return {
    stored,
    to: stored.to,
    value: BigInt(stored.value),
    data: stored.data,
    gasLimit: integer(stored.gas_limit),
    price: requestedPrice(stored),
    accessList: stored.access_list ?? [],
    authorizationList: stored.authorization_list ?? [],
    abi: stored.abi ?? [],
  };
});

/** A request in the form that `eth_call` and `eth_estimateGas` take, without fees and limit. */
export function estimateCall(request: EvmRequest, from: string): JsonObject {
  const { to, value, data, accessList, authorizationList } = request;
  return {
    from,
    // A creation has no `to` at all: nodes take an empty one for a fault.
    ...(to === null ? {} : { to: normalAddress(to) }),
    value: toQuantity(value),
    ...(data === null ? {} : { data: toData(data) }),
    ...(accessList.length === 0 ? {} : { accessList: rpcAccessList(accessList) }),
    ...(authorizationList.length === 0 ? {} : { authorizationList: rpcAuthorizationList(authorizationList) }),
  };
}

function requestedPrice(stored: StoredRequest): RequestedPrice {
  const gasPrice = integer(stored.gas_price);
  const maxFeePerGas = integer(stored.max_fee_per_gas);
  const maxPriorityFeePerGas = integer(stored.max_priority_fee_per_gas);
  if (gasPrice !== null) return { kind: 'legacy', gasPrice };
  if (maxFeePerGas !== null && maxPriorityFeePerGas !== null) {
    return { kind: 'eip1559', maxFeePerGas, maxPriorityFeePerGas };
  }
  return { kind: 'speed', speed: stored.speed ?? 'fast' };
}

const signatureSchema = z.strictObject({ r: z.string(), s: z.string(), v: z.int(), sig: z.string() });

export type EvmSignature = z.output<typeof signatureSchema>;

const receiptSchema = z.strictObject({
  block_number: amount,
  block_hash: z.string(),
  succeeded: z.boolean(),
  gas_used: amount,
  effective_gas_price: amount.nullable(),
  /** Of the contract that it has made. */
  contract_address: z.string().exactOptional(),
  // Of a failed one, once its cause was asked for.
  revert_reason: z.string().exactOptional(),
  revert_data: z.string().exactOptional(),
});

/** {@link import('../../domain/transaction/transaction.ts').Transaction.fields}. */
const fieldsSchema = z.strictObject({
  chain_id: amount,
  from: z.string(),
  gas_limit: amount,
  gas_price: amount.optional(),
  max_fee_per_gas: amount.optional(),
  max_priority_fee_per_gas: amount.optional(),
  /** The most that it can cost beside gas and value: a rollup's data fee, in wei. */
  data_fee: amount.optional(),
  signature: signatureSchema.optional(),
  receipt: receiptSchema.optional(),
});

export type EvmFields = z.output<typeof fieldsSchema>;

/** What the chain decided about a transaction so far; undefined before it was prepared. */
export const readFields = oncePerObject((fields: JsonObject): EvmFields | undefined =>
  Object.keys(fields).length === 0 ? undefined : fieldsSchema.parse(fields),
);

function integer(value: JsonAmount | null): bigint | null {
  return value === null ? null : amountOf(value);
}
