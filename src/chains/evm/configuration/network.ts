import { z } from 'zod';
import { amountOf, amountSchema } from '../../../domain/amount.ts';
import type { Network } from '../../../features/networks/record.ts';
import { networkFields, networkSchemaOf } from '../../chain.ts';

const gasPriceCacheSchema = z
  .strictObject({
    enabled: z.boolean().default(false).describe('Whether this cache is used'),
    stale_after_ms: z
      .int()
      .min(1, 'Gas price cache stale_after_ms must be greater than zero')
      .default(20_000)
      .describe('Age from which a price is refreshed in the background, in milliseconds'),
    expire_after_ms: z
      .int()
      .min(1, 'Gas price cache expire_after_ms must be greater than zero')
      .default(45_000)
      .describe('Age from which a price is no longer used, in milliseconds'),
  })
  .refine(
    (cache) => cache.expire_after_ms > cache.stale_after_ms,
    'Gas price cache expire_after_ms must be greater than stale_after_ms',
  );

/** The methods with which relays take a transaction that is to stay private. */
const privateMethodSchema = z.enum(['eth_sendRawTransaction', 'eth_sendPrivateTransaction']);

export type PrivateMethod = z.output<typeof privateMethodSchema>;

const privateUrlSchema = z.url({ protocol: /^https?$/, error: 'not a URL with https:// or http://' });

const common = networkFields(12_000);

/**
 * The fields of an EVM network entry, after inheritance, beside `type`, `network`, `from` and `rpc_urls`. All may be
 * absent. An absent chain id is asked for, and settings that depend on it are decided once it is known.
 */
const settingsSchema = z.strictObject({
  chain_id: amountSchema(64)
    .optional()
    .describe('Chain id. Default: read from an endpoint at the first contact, and then kept'),
  required_confirmations: z
    .int()
    .min(0)
    .max(1_000_000)
    .optional()
    .describe('Blocks after its own that make a transaction final. Default: 12; 1 on chain ids 31337 and 1337'),
  symbol: z.string().min(1).default('ETH').describe('Symbol of the network’s coin'),
  features: z
    .array(z.string())
    .optional()
    .describe('eip1559: gas has a base fee. Default: none with a chain_id, else read from a block'),
  average_blocktime_ms: common.average_blocktime_ms,
  max_transaction_gas: amountSchema(64)
    .optional()
    .describe(
      'The most gas that one transaction may have on the chain, such as 16777216 by EIP-7825. Default: not known',
    ),
  is_testnet: common.is_testnet,
  tags: common.tags.describe(
    'Labels; these have an effect: arbitrum-based, optimism-based, polygon-zkevm-based, no-mempool',
  ),
  explorer_urls: common.explorer_urls,
  private_rpc_urls: z
    .array(
      z.union([
        privateUrlSchema,
        z.strictObject({
          url: privateUrlSchema.describe('Address of the relay'),
          method: privateMethodSchema.default('eth_sendRawTransaction').describe('How it takes transactions'),
        }),
      ]),
    )
    .min(1)
    .max(16)
    .optional()
    .describe('Relays that take transactions of relayers with private_transactions, and keep them from the public'),
  gas_price_cache: gasPriceCacheSchema
    .optional()
    .describe('Cache of gas prices. Default: prices are reused for at most 2 seconds'),
});

export const networkSchema = networkSchemaOf(settingsSchema);

/** A network's settings as the adapter works with them. */
export interface EvmNetworkSettings {
  /** As declared; null when it has to be asked for. */
  declaredChainId: bigint | null;
  /** Blocks on top of a transaction's own that make it final, once the chain id is known. */
  confirmationsOn(chainId: bigint): bigint;
  /** Null when only a block can tell. */
  hasEip1559: boolean | null;
  averageBlocktimeMs: number;
  /** The most gas of one transaction; null where the entry does not say. */
  maxTransactionGas: bigint | null;
  /**
   * The network has no pool of waiting transactions. It drops one that pays too little and takes the others in the
   * order of arrival, so a dearer attempt replaces nothing.
   */
  lacksMempool: boolean;
  isArbitrum: boolean;
  /** The chain takes a fee for its data on the chain below, beside gas. */
  isOptimism: boolean;
  /** Its nodes have price methods of their own. */
  isZkEvm: boolean;
  /** Where private transactions go; empty where the network has no such place. */
  privateEndpoints: readonly { url: string; method: PrivateMethod }[];
  /** Null when the entry does not ask for one. */
  gasPriceCache: { staleAfterMs: number; expireAfterMs: number } | null;
}

/** The chain ids of anvil, hardhat and ganache, where every block is as good as final. */
const DEVELOPMENT_CHAINS = new Set([31_337n, 1_337n]);

/** Takes a network's settings apart. */
export function readNetworkSettings({ settings }: Network): EvmNetworkSettings {
  const known = settingsSchema.parse(settings);
  const declaredChainId = known.chain_id === undefined ? null : amountOf(known.chain_id);
  const hasTag = (tag: string) => known.tags?.includes(tag) === true;
  const isArbitrum = hasTag('arbitrum-based');
  const isOptimism = hasTag('optimism-based') || hasTag('optimism');
  const cache = known.gas_price_cache;
  return {
    declaredChainId,
    confirmationsOn: (chainId) => BigInt(known.required_confirmations ?? (DEVELOPMENT_CHAINS.has(chainId) ? 1 : 12)),
    // An entry with a chain id is complete: absent features mean none, as in the reference.
    hasEip1559: known.features?.includes('eip1559') ?? (declaredChainId === null ? null : false),
    averageBlocktimeMs: known.average_blocktime_ms,
    maxTransactionGas: known.max_transaction_gas === undefined ? null : amountOf(known.max_transaction_gas),
    lacksMempool: hasTag('no-mempool') || isArbitrum || isOptimism,
    isArbitrum,
    isOptimism,
    isZkEvm: hasTag('polygon-zkevm-based'),
    privateEndpoints: (known.private_rpc_urls ?? []).map((one) =>
      typeof one === 'string' ? { url: one, method: 'eth_sendRawTransaction' as const } : one,
    ),
    gasPriceCache:
      cache?.enabled === true ? { staleAfterMs: cache.stale_after_ms, expireAfterMs: cache.expire_after_ms } : null,
  };
}
