import type { Clock } from '../domain/clock.ts';
import type { NetworkType } from '../domain/network-type.ts';
import type { Chain } from './chain.ts';
import { createEvmChain } from './evm/index.ts';
import { isRead as isReadOfEvm } from './evm/rpc.ts';
import type { OwnMethod } from './own-method.ts';
import { createSolanaChain } from './solana/index.ts';
import { isRead as isReadOfSolana, OWN_METHODS as OWN_OF_SOLANA } from './solana/rpc.ts';
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
  return isReadOfEvm(method) || isReadOfSolana(method) || ownKind(method) === 'answer';
}

/** Of which kind a JSON-RPC method is that some family answers itself; undefined where all pass it through. */
export function ownKind(method: string): OwnMethod['kind'] | undefined {
  return OWN_OF_SOLANA.get(method);
}
