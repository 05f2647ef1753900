import { didYouMean } from '../../domain/json/issue-text.ts';
import type { Json, JsonObject } from '../../domain/json/json.ts';
import { DEFAULT_NETWORK_TYPE, type NetworkType } from '../../domain/network-type.ts';
import type { ConfiguredNetwork } from '../../features/networks/record.ts';
import type { RpcUrl } from '../../features/relayers/records/relayer.ts';
import { parseOrReport } from '../check.ts';
import type { ChainSchemas, KnownChains } from '../configuration.ts';
import type { ConfigurationFindings } from '../problems.ts';
import { givesUrlsOnly, type NetworkEntry, networkEntrySchema, parseNetworkEntry } from './network-files.ts';

/** A network with all inherited fields. */
interface InheritedNetwork {
  rpcUrls: RpcUrl[] | undefined;
  fields: JsonObject;
}

/** Lists that are merged with the parent's instead of replacing them. The parent's items come first. */
const UNITED = ['tags', 'features'];

/**
 * Resolves `from` within one network type. A child's value replaces its parent's. Lists of endpoints are replaced; tags
 * and features are merged. A parent is searched among the entries first, then among `others`. An entry may extend the
 * network in `others` with its own name. An unknown parent or a cycle is a problem.
 */
export function inheritNetworks(
  entries: ReadonlyMap<string, NetworkEntry>,
  others: ReadonlyMap<string, InheritedNetwork>,
  findings: ConfigurationFindings,
): Map<string, InheritedNetwork> {
  const resolved = new Map<string, InheritedNetwork>();

  const resolve = (entry: NetworkEntry, heirs: readonly string[]): InheritedNetwork | undefined => {
    const done = resolved.get(entry.name);
    if (done !== undefined) return done;
    const parent = entry.from === undefined ? NOTHING : resolveParent(entry, entry.from, [...heirs, entry.name]);
    if (parent === undefined) return undefined;
    const network = { rpcUrls: entry.rpcUrls ?? parent.rpcUrls, fields: inheritedFields(parent.fields, entry.fields) };
    resolved.set(entry.name, network);
    return network;
  };

  const resolveParent = (entry: NetworkEntry, from: string, line: readonly string[]): InheritedNetwork | undefined => {
    const path = entry.at.path === '' ? 'from' : `${entry.at.path}.from`;
    const parent = from === entry.name ? undefined : entries.get(from);
    if (parent !== undefined && line.includes(from)) {
      findings.problem(entry.at.file, path, `Circular inheritance detected: ${[...line, from].join(' -> ')}`);
      return undefined;
    }
    const found = parent === undefined ? others.get(from) : resolve(parent, line);
    if (found === undefined && parent === undefined) {
      const known = [...entries.keys(), ...others.keys()];
      findings.problem(entry.at.file, path, `there is no network "${from}" of this type`, didYouMean(from, known));
    }
    return found;
  };

  for (const entry of entries.values()) resolve(entry, []);
  return resolved;
}

const NOTHING: InheritedNetwork = { rpcUrls: undefined, fields: {} };

/** Returns a network's fields, including those it inherits. */
export function inheritedFields(parent: JsonObject, child: JsonObject): JsonObject {
  const merged = { ...parent, ...child };
  for (const key of UNITED) {
    const united = unite(parent[key], child[key]);
    if (united !== undefined) merged[key] = united;
  }
  return merged;
}

function unite(parent: Json | undefined, child: Json | undefined): Json[] | undefined {
  if (!Array.isArray(parent) || !Array.isArray(child)) return undefined;
  return [...new Set([...parent, ...child])];
}

/** A relayer's reference to its network. It decides the type of a network when nothing else does. */
export interface NetworkReference {
  network: string;
  networkType: NetworkType;
}

/** Returns every network that relayers may name. The operator's networks override the built-in ones. */
export function resolveNetworks(
  entries: readonly NetworkEntry[],
  chains: KnownChains,
  uses: readonly NetworkReference[],
  findings: ConfigurationFindings,
): ConfiguredNetwork[] {
  const builtIns = new Map([...chains].map(([type, chain]) => [type, builtInsOf(chain, findings)] as const));
  const typed = entries.flatMap((entry) => {
    const type = typeOf(entry, builtIns, uses, findings);
    return type === undefined ? [] : [{ entry, type }];
  });
  return [...chains].flatMap(([type, chain]) => {
    const own = typed.filter((one) => one.type === type).map(({ entry }) => entry);
    return networksOfType(chain, own, builtIns.get(type) ?? new Map(), findings);
  });
}

function builtInsOf(chain: ChainSchemas, findings: ConfigurationFindings): Map<string, InheritedNetwork> {
  const entries = chain.builtInNetworks.flatMap((value, index) => {
    const at = { file: `the built-in ${chain.type} networks`, path: `[${index}]` };
    return parseNetworkEntry(value, at, findings) ?? [];
  });
  return inheritNetworks(new Map(entries.map((entry) => [entry.name, entry])), new Map(), findings);
}

/**
 * Finds the type of an entry, from the first source that has one: the entry, the built-in networks with its name, the
 * relayers that use it, the default.
 */
function typeOf(
  entry: NetworkEntry,
  builtIns: ReadonlyMap<NetworkType, ReadonlyMap<string, InheritedNetwork>>,
  uses: readonly NetworkReference[],
  findings: ConfigurationFindings,
): NetworkType | undefined {
  const { at, name, from } = entry;
  const typePath = at.path === '' ? 'type' : `${at.path}.type`;
  if (entry.type !== undefined) {
    if (builtIns.has(entry.type)) return entry.type;
    findings.problem(at.file, typePath, `networks of type ${entry.type} are not available in this version`);
    return undefined;
  }
  const knownAs = (known: string) => [...builtIns].filter(([, names]) => names.has(known)).map(([type]) => type);
  const namedAs = uses.filter(({ network }) => network === name).map(({ networkType }) => networkType);
  const [type = DEFAULT_NETWORK_TYPE, ...others] = new Set(
    [knownAs(name), from === undefined ? [] : knownAs(from), namedAs].find((types) => types.length > 0),
  );
  if (others.length === 0) return type;
  const types = [type, ...others].join(' and ');
  findings.problem(at.file, typePath, `"${name}" may be of type ${types}`, 'Say which with "type"');
  return undefined;
}

function networksOfType(
  chain: ChainSchemas,
  entries: readonly NetworkEntry[],
  builtIns: ReadonlyMap<string, InheritedNetwork>,
  findings: ConfigurationFindings,
): ConfiguredNetwork[] {
  const byName = new Map<string, NetworkEntry>();
  for (const entry of entries) {
    const earlier = byName.get(entry.name);
    if (earlier === undefined) byName.set(entry.name, extendingItself(entry, builtIns));
    else {
      const where = [earlier.at.file, earlier.at.path].filter(Boolean).join(': ');
      findings.problem(entry.at.file, entry.at.path, `"${entry.name}" is already declared in ${where}`);
    }
  }
  const own = inheritNetworks(byName, builtIns, findings);
  return [...new Map([...builtIns, ...own])].flatMap(
    ([name, network]) => finish(chain, name, network, byName.get(name), findings) ?? [],
  );
}

/** An entry that only gives endpoints for a known network keeps everything else of that network. */
function extendingItself(entry: NetworkEntry, builtIns: ReadonlyMap<string, InheritedNetwork>): NetworkEntry {
  return givesUrlsOnly(entry) && builtIns.has(entry.name) ? { ...entry, from: entry.name } : entry;
}

function finish(
  chain: ChainSchemas,
  name: string,
  { rpcUrls, fields }: InheritedNetwork,
  entry: NetworkEntry | undefined,
  findings: ConfigurationFindings,
): ConfiguredNetwork | undefined {
  const at = entry?.at ?? { file: `the built-in ${chain.type} networks`, path: name };
  if (rpcUrls === undefined) {
    const path = at.path === '' ? 'rpc_urls' : `${at.path}.rpc_urls`;
    findings.problem(at.file, path, 'missing: where the network is reached, as an array of URLs');
    return undefined;
  }
  const settings = parseOrReport(chain.networkSchema, fields, at, findings, Object.keys(networkEntrySchema.shape));
  return settings === undefined
    ? undefined
    : { type: chain.type, name, rpcUrls, settings, isBuiltIn: entry === undefined };
}
