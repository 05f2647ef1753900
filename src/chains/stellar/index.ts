import { invalidRequest } from '../../domain/errors.ts';
import type { Chain } from '../chain.ts';
import { unavailableParts } from '../unavailable.ts';
import { addressOf } from './address.ts';
import { dialect } from './dialect.ts';
import builtInNetworks from './networks.json' with { type: 'json' };
import { policySchema, policyView } from './policy.ts';
import { networkSchema } from './schema.ts';

/** Stellar: its relayers can be declared, listed and updated. */
export function createStellarChain(): Chain {
  return {
    type: 'stellar',
    curve: 'ed25519',
    unit: 'stroop',
    counter: {
      name: 'sequence',
      statusKey: 'sequence_number',
      description: 'Stellar; null while nobody tells it',
      failure: { type: 'SequenceSyncFailed', text: 'Sequence synchronization failed' },
      isLookedUp: false,
    },
    policySchema,
    description: { name: 'Stellar', policies: {}, signing: {} },
    networkSchema,
    builtInNetworks,
    addressOf,
    policyView,
    minimumBalance: () => null,
    dialect,
    pace: { lifetimeMs: 0, anchors: {} },
    ...unavailableParts('stellar'),
    signMessage: () => refuseSigning('data'),
    signTypedData: () => refuseSigning('typed data'),
  };
}

/** In the reference's words. */
async function refuseSigning(what: string): Promise<never> {
  throw invalidRequest(`Signing ${what} not supported for Stellar`);
}
