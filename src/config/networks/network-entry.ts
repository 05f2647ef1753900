import { z } from 'zod';
import type { JsonObject } from '../../domain/json/json.ts';
import { DEFAULT_NETWORK_TYPE, type NetworkType, networkTypeSchema } from '../../domain/network-type.ts';
import type { RpcUrl } from '../../domain/relayer/relayer.ts';
import { check, type Place } from '../check.ts';
import type { Findings } from '../problems.ts';
import { rpcUrlsSchema } from './rpc-urls.ts';

/** A network as a file or the code declares it, before inheritance. */
export interface NetworkEntry {
  at: Place;
  name: string;
  /** Absent in the short form; then the type is inferred. */
  type: NetworkType | undefined;
  /** The network of the same type from which this one inherits. */
  from: string | undefined;
  rpcUrls: RpcUrl[] | undefined;
  /** The fields beyond those above, for the chain to parse. */
  fields: JsonObject;
}

/** An entry of either form. The chain of its type parses the remaining fields. */
export const networkEntrySchema = z
  .object({
    network: z
      .string()
      .min(1, 'must not be empty')
      .describe('Name of the network; the name of a built-in network replaces that network'),
    type: networkTypeSchema
      .optional()
      .describe(`Type of the network. Default: inferred from its name or its relayers, else ${DEFAULT_NETWORK_TYPE}`),
    from: z
      .string()
      .min(1, 'must not be empty')
      .optional()
      .describe('Network of the same type whose fields are inherited'),
    rpc_urls: rpcUrlsSchema.nullish().describe('RPC endpoints of the network'),
    $schema: z.string().optional(),
  })
  .catchall(z.json());

/** Parses an entry of either form. The short form is the same object with fewer fields. */
export function parseNetworkEntry(value: unknown, at: Place, findings: Findings): NetworkEntry | undefined {
  const parsed = check(networkEntrySchema, value, at, findings);
  if (parsed === undefined) return undefined;
  const { network, type, from, rpc_urls: rpcUrls, $schema: _, ...fields } = parsed;
  return { at, name: network, type, from, rpcUrls: rpcUrls ?? undefined, fields };
}

/** Whether an entry has only endpoints, and no other field of the network. */
export function givesUrlsOnly(entry: NetworkEntry): boolean {
  return entry.from === undefined && Object.keys(entry.fields).length === 0;
}
