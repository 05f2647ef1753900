import { z } from 'zod';
import type { JsonObject } from '../domain/json/json.ts';
import type { Network } from '../domain/network.ts';
import type { NetworkType } from '../domain/network-type.ts';
import type { Curve } from '../signers/signer.ts';

/** Block explorers of a network. Pages link to them, so no other scheme is taken. */
export const explorerUrls = z.array(z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }));

/** The part of a chain family that is known before its code is loaded. Configuration is checked against it. */
export interface ChainFamily {
  readonly type: NetworkType;
  readonly curve: Curve;
  /**
   * The schema of a relayer's `policies` in the API and the file. Its output has the form that `Relayer.policies`
   * describes.
   */
  readonly policySchema: z.ZodType<JsonObject>;
  /** The fields of a network entry that only this family knows, after inheritance. */
  readonly networkSchema: z.ZodType<JsonObject>;
  /** The networks that are known without any file, in the form of the reference's entries (`networks.json`). */
  readonly builtInNetworks: readonly JsonObject[];
  /** The market that a network names itself. Null if it names none, as in families whose networks cannot. */
  marketUrl(network: Pick<Network, 'settings'>): string | null;
}
