import type { RpcClient } from '../../egress/rpc/rpc-client.ts';
import type { Network } from '../../features/networks/record.ts';
import { balanceOfEndpoints } from '../quorum.ts';
import { findServedChain, type ServedChainQuery } from '../served-chain.ts';
import { getBalance, getBlock, onlyOnChain, parseQuantity } from './rpc-calls.ts';

/** How to find the right chain among those that endpoints serve. */
export type ChainIdQuery = Pick<ServedChainQuery<bigint>, 'expected' | 'onServed'>;

/**
 * Asks every endpoint for its chain id (EIP-695).
 * @throws AppError `PROVIDER_FAILED`
 */
export function readChainId(network: Network, rpc: RpcClient, question: ChainIdQuery): Promise<bigint> {
  return findServedChain(network, rpc, { method: 'eth_chainId', served: parseQuantity, what: 'chain id', ...question });
}

/** Which endpoints count, and what they are asked about. */
export interface AccountBalanceQuery {
  /** Null: any endpoint counts. */
  chain: bigint | null;
  address: string;
  /** The balance to expect at least. If one endpoint tells less, all are asked. */
  least: bigint | undefined;
}

/** The account's balance in wei by an endpoint that serves the chain. */
export function balanceOnChain(rpc: RpcClient, { chain, address, least }: AccountBalanceQuery): Promise<bigint> {
  const source = chain === null ? rpc : onlyOnChain(chain, rpc);
  return balanceOfEndpoints(source, (read) => getBalance(read, address), least);
}

/** The chain ids of nodes for development (anvil, hardhat, geth). Each start of such a node may be another chain. */
const DEVELOPMENT: ReadonlySet<bigint> = new Set([31_337n, 1337n]);

/**
 * How much of the genesis hash tells the starts of a development chain apart. A lane's key has no room for the whole
 * hash.
 */
const GENESIS_DIGITS = 16;

/** The chain id (EIP-155) of an identity. */
export function chainIdOf(identity: string): bigint {
  return BigInt(identity.split('@', 1)[0] ?? identity);
}

/**
 * The chain id as text. On a development chain, the first digits of the genesis hash follow and tell its starts apart.
 */
export async function chainIdentityOf(rpc: RpcClient, chainId: bigint): Promise<string> {
  const id = chainId.toString();
  if (!DEVELOPMENT.has(chainId)) return id;
  const genesis = await onlyOnChain(chainId, rpc).onOne((read) => getBlock(read, 0n));
  return genesis === null ? id : `${id}@${genesis.hash.slice(2, 2 + GENESIS_DIGITS)}`;
}

/**
 * The chain id of a development chain, which stays when the chain starts anew. Undefined for chains that never start
 * anew.
 */
export function restartableChainId(identity: string): string | undefined {
  const chainId = chainIdOf(identity);
  return DEVELOPMENT.has(chainId) ? chainId.toString() : undefined;
}
