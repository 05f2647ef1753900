import type { HttpClient } from '../egress/http-client.ts';
import { createMarketClient, type MarketClient } from '../egress/market-client.ts';
import { type Environment, readContractAddresses } from '../settings/environment.ts';
import type { ContractDeployments } from './chain.ts';

/** Creates the clients of the markets where tokens are priced and traded, from the environment. */
export function createMarkets(
  environment: Environment,
  http: HttpClient,
): { market: MarketClient; deployments: ContractDeployments } {
  const { JUPITER_API_URL: url, JUPITER_API_KEY: apiKey, SOROSWAP_API_URL, SOROSWAP_API_KEY } = environment;
  const keyed = { url: SOROSWAP_API_URL, apiKey: SOROSWAP_API_KEY, keyIn: 'authorization', http } as const;
  return {
    market: createMarketClient({ url, apiKey, keyName: 'JUPITER_API_KEY', http }),
    deployments: {
      contracts: readContractAddresses(environment),
      // Soroswap requires a key.
      routes: SOROSWAP_API_KEY === undefined ? null : createMarketClient(keyed),
    },
  };
}
