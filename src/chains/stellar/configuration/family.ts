import type { ChainFamily } from '../../chain.ts';
import { horizonUrl, networkSchema } from './network.ts';
import builtInNetworks from './networks.json' with { type: 'json' };
import { stellarPolicies } from './policy.ts';

export const stellar: ChainFamily = {
  type: 'stellar',
  curve: 'ed25519',
  policySchema: stellarPolicies.schema,
  networkSchema,
  builtInNetworks,
  marketUrl: horizonUrl,
  relays: () => [],
};
