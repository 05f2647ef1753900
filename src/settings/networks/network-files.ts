import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import type { JsonObject } from '../../domain/json/json.ts';
import { DEFAULT_NETWORK_TYPE, type NetworkType, networkTypeSchema } from '../../domain/network-type.ts';
import type { RpcUrl } from '../../features/relayers/records/relayer.ts';
import { type ConfigurationPlace, parseOrReport } from '../check.ts';
import { displayPath, fileErrorCode, readJsonFile } from '../json-file.ts';
import type { ConfigurationFindings } from '../problems.ts';
import { rpcUrlsSchema } from '../schema.ts';

/** A network as a file or the code declares it, before inheritance. */
export interface NetworkEntry {
  at: ConfigurationPlace;
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
export function parseNetworkEntry(
  value: unknown,
  at: ConfigurationPlace,
  findings: ConfigurationFindings,
): NetworkEntry | undefined {
  const parsed = parseOrReport(networkEntrySchema, value, at, findings);
  if (parsed === undefined) return undefined;
  const { network, type, from, rpc_urls: rpcUrls, $schema: _, ...fields } = parsed;
  return { at, name: network, type, from, rpcUrls: rpcUrls ?? undefined, fields };
}

/** Whether an entry has only endpoints, and no other field of the network. */
export function givesUrlsOnly(entry: NetworkEntry): boolean {
  return entry.from === undefined && Object.keys(entry.fields).length === 0;
}

/** The sources of the operator's networks. */
export interface NetworkSource {
  /** The value of `networks` in the configuration file: an array, the path of a folder, or nothing. */
  declared: unknown;
  /** The name of the configuration file in messages. */
  file: string;
  /** The folder that is read when `declared` is empty. It need not exist. */
  defaultFolder: string;
  cwd: string;
}

/** Reads the operator's networks: those in the configuration file, or else every JSON file of a folder. */
export async function readNetworkEntries(
  source: NetworkSource,
  findings: ConfigurationFindings,
): Promise<NetworkEntry[]> {
  const { declared, file, defaultFolder } = source;
  if (Array.isArray(declared)) return parseAll(declared, file, 'networks', findings);
  if (declared === undefined || declared === null || declared === '') {
    return readFolder(defaultFolder, source.cwd, findings, 'may be missing');
  }
  if (typeof declared === 'string') return readFolder(declared, source.cwd, findings, 'must exist');
  findings.problem(file, 'networks', 'must be an array of networks or the path of a folder');
  return [];
}

async function readFolder(
  folder: string,
  cwd: string,
  findings: ConfigurationFindings,
  presence: 'may be missing' | 'must exist',
): Promise<NetworkEntry[]> {
  const path = resolve(cwd, folder);
  const shown = displayPath(cwd, path);
  try {
    const files = await readdir(path, { withFileTypes: true });
    const names = files.filter((file) => !file.isDirectory() && /\.json$/i.test(file.name)).map(({ name }) => name);
    const lists = await Promise.all(
      names.toSorted().map((name) => readNetworkFile(join(path, name), join(shown, name), findings)),
    );
    return lists.flat();
  } catch (error) {
    const code = fileErrorCode(error);
    if (code === 'ENOENT' && presence === 'may be missing') return [];
    const reason = code === 'ENOENT' ? 'there is no such folder' : `cannot be read as a folder (${code})`;
    findings.problem(shown, '', reason, 'Name a folder of JSON files in "networks", or leave it out');
    return [];
  }
}

/** Reads one network `{"network": …, "rpc_urls": […]}`, or the reference's list `{"networks": […]}`. */
async function readNetworkFile(path: string, shown: string, findings: ConfigurationFindings): Promise<NetworkEntry[]> {
  const content = await readJsonFile(path, shown, findings);
  if (content === undefined) return [];
  const { value } = content;
  if (typeof value === 'object' && value !== null && 'networks' in value) {
    if (Array.isArray(value.networks)) return parseAll(value.networks, shown, 'networks', findings);
    findings.problem(shown, 'networks', 'must be an array');
    return [];
  }
  const entry = parseNetworkEntry(value, { file: shown, path: '' }, findings);
  return entry === undefined ? [] : [entry];
}

function parseAll(values: unknown[], file: string, path: string, findings: ConfigurationFindings): NetworkEntry[] {
  return values.flatMap(
    (value, index) => parseNetworkEntry(value, { file, path: `${path}[${index}]` }, findings) ?? [],
  );
}
