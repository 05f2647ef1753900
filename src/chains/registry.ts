import { createRequire } from 'node:module';
import type { Clock } from '../domain/clock.ts';
import type { NetworkType } from '../domain/network-type.ts';
import type { Chain, ChainFamily } from './chain.ts';
import type { LocalRpcMethod } from './chain-client.ts';
import { evm } from './evm/configuration/family.ts';
import type * as evmCode from './evm/index.ts';
import { isReadMethod as isReadOfEvm, takesSignedBytes as takesBytesOfEvm } from './evm/rpc-methods.ts';
import { solana } from './solana/configuration/family.ts';
import type * as solanaCode from './solana/index.ts';
import {
  isReadMethod as isReadOfSolana,
  LOCAL_RPC_METHODS as OWN_OF_SOLANA,
  takesSignedBytes as takesBytesOfSolana,
} from './solana/rpc-methods.ts';
import { stellar } from './stellar/configuration/family.ts';
import type * as stellarCode from './stellar/index.ts';
import { isReadMethod as isReadOfStellar, takesSignedBytes as takesBytesOfStellar } from './stellar/rpc-methods.ts';

/** Loads a module synchronously, because code that needs a chain does not wait. */
const require = createRequire(import.meta.url);

/** The chain families that the service knows. */
export function createChains(clock: Clock): ReadonlyMap<NetworkType, Chain> {
  const chains = [
    lazyChain(evm, () => (require('./evm/index.ts') as typeof evmCode).createEvmChain(clock)),
    lazyChain(solana, () => (require('./solana/index.ts') as typeof solanaCode).createSolanaChain()),
    lazyChain(stellar, () => (require('./stellar/index.ts') as typeof stellarCode).createStellarChain()),
  ];
  return new Map(chains.map((chain) => [chain.type, chain]));
}

/** Whether a JSON-RPC method is known to do nothing but read, by the lists of the families. */
export function isReadOnlyRpcMethod(method: string): boolean {
  return (
    isReadOfEvm(method) || isReadOfSolana(method) || isReadOfStellar(method) || localRpcMethodKind(method) === 'answer'
  );
}

/** Filters of Ethereum's nodes: the node remembers what to read next. */
const FILTERS: ReadonlySet<string> = new Set(
  `eth_newFilter eth_newBlockFilter eth_newPendingTransactionFilter eth_uninstallFilter eth_subscribe eth_unsubscribe`.split(
    ' ',
  ),
);

/**
 * Names that providers give to their own reads, for instance `alchemy_getAssetTransfers` and Solana's `getAsset`. The
 * namespaces with which a node is administered, or a test chain changed, are left out.
 */
const READING_NAME =
  /^(?!(admin|anvil|clique|debug|engine|evm|hardhat|miner|personal|wallet)_)([A-Za-z0-9]+_)?(get|estimate|simulate|search)[A-Z]\w*$/;

/**
 * Whether a caller who may only read may have the method passed on to a node. Unlike {@link isReadOnlyRpcMethod} it does not say
 * that the method may be called twice.
 */
export function isPassThroughRead(method: string): boolean {
  return isReadOnlyRpcMethod(method) || FILTERS.has(method) || READING_NAME.test(method);
}

/** Whether a JSON-RPC method takes bytes that are signed already. */
export function takesSignedBytes(method: string): boolean {
  return takesBytesOfEvm(method) || takesBytesOfSolana(method) || takesBytesOfStellar(method);
}

/** The kind of a JSON-RPC method that some family answers itself; undefined if all families pass it through. */
export function localRpcMethodKind(method: string): LocalRpcMethod['kind'] | undefined {
  return OWN_OF_SOLANA.get(method);
}

/**
 * Makes a chain that loads its code at the first access to a property beyond those of its family. A service that has
 * relayers of one family runs without the code of the others.
 */
function lazyChain(family: ChainFamily, load: () => Chain): Chain {
  let loaded: Chain | undefined;
  const chain = (): Chain => {
    loaded ??= load();
    return loaded;
  };
  return new Proxy({} as Chain, {
    get: (_chain, name) => Reflect.get(loaded ?? (name in family ? family : chain()), name),
    has: (_chain, name) => name in chain(),
    ownKeys: () => Reflect.ownKeys(chain()),
    getOwnPropertyDescriptor: (_chain, name) => Reflect.getOwnPropertyDescriptor(chain(), name),
  });
}
