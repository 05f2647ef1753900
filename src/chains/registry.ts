import type { Clock } from '../domain/clock.ts';
import type { NetworkType } from '../domain/network-type.ts';
import type { Chain } from './chain.ts';
import { createEvmChain } from './evm/index.ts';
import { isRead as isReadOfEvm } from './evm/rpc.ts';
import { createSolanaChain } from './solana/index.ts';
import { isRead as isReadOfSolana } from './solana/rpc.ts';
import { createStellarChain } from './stellar/index.ts';

/** The chain families that the service knows. */
export function createChains(clock: Clock): ReadonlyMap<NetworkType, Chain> {
  return new Map(
    [createEvmChain(clock), createSolanaChain(), createStellarChain()].map((chain) => [chain.type, chain]),
  );
}

/**
 * Whether a JSON-RPC method is known to do nothing but read, by the list of a family whose nodes have it. Stellar has none:
 * there everything may act.
 */
export function onlyReads(method: string): boolean {
  return isReadOfEvm(method) || isReadOfSolana(method);
}
