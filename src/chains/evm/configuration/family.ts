import type { ChainFamily } from '../../chain.ts';
import { networkSchema, readNetworkSettings } from './network.ts';
import builtInNetworks from './networks.json' with { type: 'json' };
import { evmPolicies } from './policy.ts';

export const evm: ChainFamily = {
  type: 'evm',
  curve: 'secp256k1',
  policySchema: evmPolicies.schema,
  networkSchema,
  builtInNetworks,
  marketUrl: () => null,
  relays: (network) => readNetworkSettings(network).privateEndpoints,
};
