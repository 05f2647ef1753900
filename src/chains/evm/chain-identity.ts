import type { RpcClient } from '../../egress/rpc/rpc-client.ts';
import { onlyOn, shownBlock } from './provider.ts';

/** The chain ids of nodes for development (anvil, hardhat, geth): each start of one may be another chain. */
const DEVELOPMENT: ReadonlySet<bigint> = new Set([31_337n, 1337n]);

/** Tells one start of a development chain from another; a lane's key has no room for all of a hash. */
const GENESIS_DIGITS = 16;

/** The chain id (EIP-155) of an identity. */
export function chainIdOf(identity: string): bigint {
  return BigInt(identity.split('@', 1)[0] ?? identity);
}

/** The chain id as text; for development with what tells its genesis block from that of another start. */
export async function identityOf(rpc: RpcClient, chainId: bigint): Promise<string> {
  const id = chainId.toString();
  if (!DEVELOPMENT.has(chainId)) return id;
  const genesis = await onlyOn(chainId, rpc).onOne((read) => shownBlock(read, 0n));
  return genesis === null ? id : `${id}@${genesis.hash.slice(2, 2 + GENESIS_DIGITS)}`;
}

/** What outlives a start of a development chain anew: its chain id. Undefined for chains that never start anew. */
export function restartable(identity: string): string | undefined {
  const chainId = chainIdOf(identity);
  return DEVELOPMENT.has(chainId) ? chainId.toString() : undefined;
}
