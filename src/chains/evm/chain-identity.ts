import type { RpcClient } from '../../egress/rpc/rpc-client.ts';
import { onlyOn, shownBlock } from './provider.ts';

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
export async function identityOf(rpc: RpcClient, chainId: bigint): Promise<string> {
  const id = chainId.toString();
  if (!DEVELOPMENT.has(chainId)) return id;
  const genesis = await onlyOn(chainId, rpc).onOne((read) => shownBlock(read, 0n));
  return genesis === null ? id : `${id}@${genesis.hash.slice(2, 2 + GENESIS_DIGITS)}`;
}

/**
 * The chain id of a development chain, which stays when the chain starts anew. Undefined for chains that never start
 * anew.
 */
export function restartable(identity: string): string | undefined {
  const chainId = chainIdOf(identity);
  return DEVELOPMENT.has(chainId) ? chainId.toString() : undefined;
}
