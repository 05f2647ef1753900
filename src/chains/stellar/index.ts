import { invalidRequest } from '../../domain/errors.ts';
import type { Chain } from '../chain.ts';
import { unavailableParts } from '../unavailable.ts';
import { addressOf } from './address.ts';
import builtInNetworks from './networks.json' with { type: 'json' };
import { policySchema, policyView } from './policy.ts';
import { networkSchema } from './schema.ts';

/** Stellar: its relayers can be declared, listed and updated. */
export function createStellarChain(): Chain {
  return {
    type: 'stellar',
    curve: 'ed25519',
    unit: 'stroop',
    counter: { statusKey: 'sequence_number', failure: 'SequenceSyncFailed' },
    policySchema,
    networkSchema,
    builtInNetworks,
    addressOf,
    policyView,
    minimumBalance: () => null,
    lifetimeMs: 0,
    ...unavailableParts('stellar'),
    signMessage: () => refuseSigning('data'),
    signTypedData: () => refuseSigning('typed data'),
  };
}

/** In the reference's words. */
async function refuseSigning(what: string): Promise<never> {
  throw invalidRequest(`Signing ${what} not supported for Stellar`);
}
