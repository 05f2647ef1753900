import { createRequire } from 'node:module';
import type { Clock } from '../domain/clock.ts';
import type { NetworkType } from '../domain/network-type.ts';
import type { Chain } from './chain.ts';
import { evm } from './evm/configuration/family.ts';
import type * as evmCode from './evm/index.ts';
import { isRead as isReadOfEvm } from './evm/rpc.ts';
import type { OwnMethod } from './own-method.ts';
import { solana } from './solana/configuration/family.ts';
import type * as solanaCode from './solana/index.ts';
import { isRead as isReadOfSolana, OWN_METHODS as OWN_OF_SOLANA } from './solana/rpc.ts';
import { stellar } from './stellar/configuration/family.ts';
import type * as stellarCode from './stellar/index.ts';
import { whenNeeded } from './when-needed.ts';

/** Loads a module synchronously, because code that needs a chain does not wait. */
const require = createRequire(import.meta.url);

/** The chain families that the service knows. */
export function createChains(clock: Clock): ReadonlyMap<NetworkType, Chain> {
  const chains = [
    whenNeeded(evm, () => (require('./evm/index.ts') as typeof evmCode).createEvmChain(clock)),
    whenNeeded(solana, () => (require('./solana/index.ts') as typeof solanaCode).createSolanaChain()),
    whenNeeded(stellar, () => (require('./stellar/index.ts') as typeof stellarCode).createStellarChain()),
  ];
  return new Map(chains.map((chain) => [chain.type, chain]));
}

/**
 * Whether a JSON-RPC method is known to do nothing but read, by the lists of the families. Stellar has no list: any of
 * its methods may act.
 */
export function onlyReads(method: string): boolean {
  return isReadOfEvm(method) || isReadOfSolana(method) || ownKind(method) === 'answer';
}

/** The kind of a JSON-RPC method that some family answers itself; undefined if all families pass it through. */
export function ownKind(method: string): OwnMethod['kind'] | undefined {
  return OWN_OF_SOLANA.get(method);
}
