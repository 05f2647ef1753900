import { z } from 'zod';
import type { Chain } from '../../chains/chain.ts';
import type { NetworkType } from '../../domain/network-type.ts';
import type { DocumentParts } from './document.ts';

/** How the description calls each family. */
const NAMES: Readonly<Record<NetworkType, string>> = { evm: 'Evm', solana: 'Solana', stellar: 'Stellar' };

/** What the families say of the bodies that they take. */
export type DescribedChain = Pick<Chain, 'policySchema' | 'requestSchema' | 'signingSchemas'>;

/** The bodies that differ by network type: any of the families' own. */
export function chainBodies(chains: ReadonlyMap<NetworkType, DescribedChain>): DocumentParts {
  const policies = new Map<string, z.ZodType>();
  const requests = new Map<string, z.ZodType>();
  const typedData = new Map<string, z.ZodType>();
  const unsent = new Map<string, z.ZodType>();
  for (const [type, { policySchema, requestSchema, signingSchemas }] of chains) {
    policies.set(`${NAMES[type]}Policies`, policySchema);
    if (requestSchema !== undefined) requests.set(`${NAMES[type]}TransactionRequest`, requestSchema);
    if (signingSchemas === undefined) continue;
    typedData.set(`${NAMES[type]}TypedData`, signingSchemas.typedData);
    unsent.set(`${NAMES[type]}UnsentTransaction`, signingSchemas.transaction);
  }
  return {
    policies: z.union([...policies.values()]),
    request: z.union([...requests.values()]),
    typedData: z.union([...typedData.values()]),
    unsent: z.union([...unsent.values()]),
    named: Object.fromEntries([...policies, ...requests, ...typedData, ...unsent]),
  };
}
