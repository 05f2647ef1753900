import type { ChainFamily } from '../../chain.ts';
import { networkSchema } from './network.ts';
import builtInNetworks from './networks.json' with { type: 'json' };
import { solanaPolicies } from './policy.ts';

export const solana: ChainFamily = {
  type: 'solana',
  curve: 'ed25519',
  policySchema: solanaPolicies.schema,
  networkSchema,
  builtInNetworks,
  marketUrl: () => null,
  relays: () => [],
};
