import { Asset } from '@stellar/stellar-sdk/base';
import type { MarketClient } from '../../../egress/market-client.ts';
import type { Network } from '../../../features/networks/record.ts';
import type { ContractDeployments } from '../../chain.ts';
import { isContractAddress } from '../address.ts';
import { isTestnet } from '../configuration/network.ts';
import type { SwapStrategy } from '../configuration/policy.ts';
import type { OrderBooks } from '../sponsor/horizon.ts';

/** Where a network's assets are traded. */
export interface SwapExchanges {
  books: OrderBooks;
  /** Null where the operator names no router. */
  soroswap: Soroswap | null;
}

/** An exchange that consists of contracts. */
export interface Soroswap {
  /** The contract that swaps. Only this contract gets a consent. */
  router: string;
  /** The network's name in the exchange's API. */
  network: 'mainnet' | 'testnet';
  /** The API that finds paths; null: the direct path is taken. */
  routes: MarketClient | null;
}

/** The variable that names the router of a network. */
export function routerVariable(network: Network): string {
  return `STELLAR_${isTestnet(network) ? 'TESTNET' : 'MAINNET'}_SOROSWAP_ROUTER_ADDRESS`;
}

export function swapExchangesOf(
  network: Network,
  horizon: MarketClient | null,
  deployments?: ContractDeployments,
): SwapExchanges {
  const router = deployments?.contracts[routerVariable(network)];
  const named = isTestnet(network) ? 'testnet' : 'mainnet';
  return {
    books: { network: network.name, horizon },
    soroswap: router === undefined ? null : { router, network: named, routes: deployments?.routes ?? null },
  };
}

/** The first strategy that can swap an asset for lumens; undefined where none can. */
export function swapStrategyFor(asset: string, strategies: readonly SwapStrategy[]): SwapStrategy | undefined {
  if (asset === 'native') return undefined;
  return strategies.find((one) => (one === 'soroswap') === isContractAddress(asset));
}

/** The contract of lumens, which every network has at an address of its own (CAP-46-6). */
export function lumensContract(passphrase: string): string {
  return Asset.native().contractId(passphrase);
}
