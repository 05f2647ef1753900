import { invalidRequest } from '../../domain/errors.ts';
import type { Chain } from '../chain.ts';
import { unavailableParts } from '../unavailable.ts';
import { addressOf } from './address.ts';
import { dialect } from './dialect.ts';
import builtInNetworks from './networks.json' with { type: 'json' };
import { policyFault, policySchema, policyView } from './policy.ts';
import { networkSchema } from './schema.ts';

/** Solana: its relayers can be declared, listed and updated. */
export function createSolanaChain(): Chain {
  return {
    type: 'solana',
    curve: 'ed25519',
    unit: 'lamport',
    policySchema,
    description: { name: 'Solana', policies: {}, signing: {} },
    networkSchema,
    builtInNetworks,
    addressOf,
    policyView,
    policyFault,
    minimumBalance: () => null,
    dialect,
    pace: { lifetimeMs: 0, anchors: {} },
    ...unavailableParts('solana'),
    signMessage: refuseSigning,
    signTypedData: refuseSigning,
  };
}

/** In the reference's words. */
async function refuseSigning(): Promise<never> {
  throw invalidRequest('Endpoint is not supported for Solana relayers');
}
