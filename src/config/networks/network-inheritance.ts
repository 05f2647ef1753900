import type { Json, JsonObject } from '../../domain/json/json.ts';
import { didYouMean } from '../../domain/json/nearest.ts';
import type { RpcUrl } from '../../domain/relayer/relayer.ts';
import type { Findings } from '../problems.ts';
import type { NetworkEntry } from './network-entry.ts';

/** A network with everything it takes over from others. */
export interface InheritedNetwork {
  rpcUrls: RpcUrl[] | undefined;
  fields: JsonObject;
}

/** Lists that a child adds to instead of replacing; the parent's come first. */
const UNITED = ['tags', 'features'];

/**
 * Resolves `from` within one network type: the child's value wins, lists of endpoints replace, tags and features are
 * united. A parent is looked for among the entries, then among `others`; an entry may extend one of `others` that has
 * its own name. A parent that is unknown, or a circle, is a problem.
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

/** A network's fields with those that it takes over. */
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
