import type { ConfiguredNetwork } from '../../domain/network.ts';
import { DEFAULT_NETWORK_TYPE, type NetworkType } from '../../domain/network-type.ts';
import type { ChainSchemas, KnownChains } from '../chain-schemas.ts';
import { check } from '../check.ts';
import type { Findings } from '../problems.ts';
import { givesUrlsOnly, type NetworkEntry, networkEntrySchema, parseNetworkEntry } from './network-entry.ts';
import { type InheritedNetwork, inherit } from './network-inheritance.ts';

/** A relayer's reference to its network. It decides the type of a network when nothing else does. */
export interface NetworkUse {
  network: string;
  networkType: NetworkType;
}

/** Returns every network that relayers may name. The operator's networks override the built-in ones. */
export function resolveNetworks(
  entries: readonly NetworkEntry[],
  chains: KnownChains,
  uses: readonly NetworkUse[],
  findings: Findings,
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

function builtInsOf(chain: ChainSchemas, findings: Findings): Map<string, InheritedNetwork> {
  const entries = chain.builtInNetworks.flatMap((value, index) => {
    const at = { file: `the built-in ${chain.type} networks`, path: `[${index}]` };
    return parseNetworkEntry(value, at, findings) ?? [];
  });
  return inherit(new Map(entries.map((entry) => [entry.name, entry])), new Map(), findings);
}

/**
 * Finds the type of an entry, from the first source that has one: the entry, the built-in networks with its name, the
 * relayers that use it, the default.
 */
function typeOf(
  entry: NetworkEntry,
  builtIns: ReadonlyMap<NetworkType, ReadonlyMap<string, InheritedNetwork>>,
  uses: readonly NetworkUse[],
  findings: Findings,
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
  findings: Findings,
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
  const own = inherit(byName, builtIns, findings);
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
  findings: Findings,
): ConfiguredNetwork | undefined {
  const at = entry?.at ?? { file: `the built-in ${chain.type} networks`, path: name };
  if (rpcUrls === undefined) {
    const path = at.path === '' ? 'rpc_urls' : `${at.path}.rpc_urls`;
    findings.problem(at.file, path, 'missing: where the network is reached, as an array of URLs');
    return undefined;
  }
  const settings = check(chain.networkSchema, fields, at, findings, Object.keys(networkEntrySchema.shape));
  return settings === undefined
    ? undefined
    : { type: chain.type, name, rpcUrls, settings, isBuiltIn: entry === undefined };
}
