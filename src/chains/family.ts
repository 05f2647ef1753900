import type { z } from 'zod';
import type { JsonObject } from '../domain/json/json.ts';
import type { Network } from '../domain/network.ts';
import type { NetworkType } from '../domain/network-type.ts';
import type { Curve } from '../signers/signer.ts';

/** What is known of a chain family before its code is loaded: what configuration is held against. */
export interface ChainFamily {
  readonly type: NetworkType;
  readonly curve: Curve;
  /** A relayer's `policies` as the API and the file accept them; leaves what `Relayer.policies` describes. */
  readonly policySchema: z.ZodType<JsonObject>;
  /** The fields of a network entry that only this family knows, after inheritance. */
  readonly networkSchema: z.ZodType<JsonObject>;
  /** The networks that are known without any file, in the form of the reference's entries (`networks.json`). */
  readonly builtInNetworks: readonly JsonObject[];
  /** The market that a network names itself; null where it names none, as in a family whose networks cannot. */
  marketUrl(network: Pick<Network, 'settings'>): string | null;
}
