import type { Json, JsonObject } from '../../domain/json/json.ts';
import { didYouMean } from '../../domain/json/nearest.ts';
import type { RpcUrl } from '../../domain/relayer/relayer.ts';
import type { Findings } from '../problems.ts';
import type { NetworkEntry } from './network-entry.ts';

/** A network with all inherited fields. */
export interface InheritedNetwork {
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
export function inherit(
  entries: ReadonlyMap<string, NetworkEntry>,
  others: ReadonlyMap<string, InheritedNetwork>,
  findings: Findings,
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
