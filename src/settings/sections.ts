import { z } from 'zod';
import { didYouMean } from '../domain/json/issue-text.ts';
import type { Json, JsonObject } from '../domain/json/json.ts';
import type { Network } from '../domain/network.ts';
import { networkTypeSchema } from '../domain/network-type.ts';
import { type PluginEntry, pluginEntrySchema } from '../domain/plugin.ts';
import { check, keysAt, type Place, pathOf, reportIgnored } from './check.ts';
import type { KnownChains, KnownSignerKinds, RelayerEntry, SignerEntry } from './configuration.ts';
import { MIN_KEY_LENGTH } from './environment.ts';
import type { Findings } from './problems.ts';
import { type NotificationEntry, notificationEntrySchema, relayerEntrySchema, signerEntrySchema } from './schema.ts';
import type { Variables } from './secrets.ts';

/** A section of the configuration file: an array of entries, each with a unique id. */
export interface Section {
  value: unknown;
  place: Place;
}

export function readRelayers(section: Section, chains: KnownChains, findings: Findings): RelayerEntry[] {
  return entriesOf(section, findings).flatMap(([value, at]) => {
    reportUnknownKeys(value, at, findings);
    const entry = check(relayerEntrySchema, value, at, findings);
    const policies = readPolicies(value, at, chains, findings);
    if (entry === undefined || policies === undefined) return [];
    return [
      {
        id: entry.id,
        name: entry.name,
        network: entry.network,
        networkType: entry.network_type,
        paused: entry.paused,
        signerId: entry.signer_id,
        notificationId: entry.notification_id ?? null,
        customRpcUrls: entry.custom_rpc_urls ?? null,
        policies,
        declaration: value as Json,
      },
    ];
  });
}

/** Reports policies that ask for something that their network lacks. */
export function checkPolicies(
  { networkType, network, policies }: RelayerEntry,
  at: Place,
  { networks, chains }: { networks: readonly Network[]; chains: KnownChains },
  findings: Findings,
): void {
  const settings = networks.find(({ type, name }) => type === networkType && name === network)?.settings;
  const fault = chains.get(networkType)?.policyFault?.(policies, network, settings) ?? null;
  if (fault !== null) findings.problem(at.file, `${at.path}.policies`, fault);
}

/** Reads policies by the network type, also for an entry with other faults. */
function readPolicies(value: unknown, at: Place, chains: KnownChains, findings: Findings): JsonObject | undefined {
  const { network_type: type, policies } = policiesSchema.safeParse(value).data ?? {};
  if (type === undefined) return undefined;
  const chain = chains.get(type);
  if (chain !== undefined) {
    const place = { file: at.file, path: `${at.path}.policies` };
    return check(
      chain.policySchema,
      withoutIgnored(chain.policySchema, policies ?? {}, place, findings),
      place,
      findings,
    );
  }
  const message = `relayers of type ${type} are not available in this version`;
  findings.problem(at.file, `${at.path}.network_type`, message, `Available: ${[...chains.keys()].join(', ')}`);
  return undefined;
}

/**
 * Removes unknown keys from nested objects of policies, with a report. The reference ignores such keys, so existing
 * files contain them.
 */
function withoutIgnored(schema: z.ZodType, policies: unknown, at: Place, findings: Findings): unknown {
  const kept: unknown = structuredClone(policies);
  for (const issue of schema.safeParse(policies).error?.issues ?? []) {
    if (issue.code !== 'unrecognized_keys' || issue.path.length < 2) continue;
    const holder = issue.path.reduce((part, step) => Reflect.get(part as object, step) as unknown, kept);
    for (const key of issue.keys) {
      const holderAt = { file: at.file, path: pathOf(at.path, issue.path) };
      reportIgnored(key, keysAt(schema, issue.path), holderAt, findings);
      Reflect.deleteProperty(holder as object, key);
    }
  }
  return kept;
}

const policiesSchema = z.object({ network_type: networkTypeSchema, policies: z.unknown().optional() });

export function readSigners(section: Section, kinds: KnownSignerKinds, findings: Findings): SignerEntry[] {
  return entriesOf(section, findings).flatMap(([value, at]) => {
    const entry = check(signerEntrySchema, value, at, findings);
    if (entry === undefined) return [];
    const kind = kinds.get(entry.type);
    if (kind === undefined) {
      const advice = didYouMean(entry.type, kinds.keys()) ?? `Known: ${[...kinds.keys()].join(', ')}`;
      findings.problem(at.file, `${at.path}.type`, `there is no signer type "${entry.type}"`, advice);
      return [];
    }
    const config = check(kind.configSchema, entry.config, { file: at.file, path: `${at.path}.config` }, findings);
    return config === undefined ? [] : [entry];
  });
}

export function readNotifications(section: Section, variables: Variables, findings: Findings): NotificationEntry[] {
  return entriesOf(section, findings).flatMap(([value, at]) => {
    const entry = check(notificationEntrySchema, value, at, findings);
    if (entry === undefined) return [];
    for (const field of ['signing_key', 'second_signing_key'] as const) {
      const { [field]: secret } = entry;
      const key = secret?.type === 'env' ? variables[secret.value] : secret?.value;
      if (key !== undefined && key.length < MIN_KEY_LENGTH) {
        findings.warn(at.file, `${at.path}.${field}`, `the key has fewer than ${MIN_KEY_LENGTH} characters`);
      }
    }
    if (entry.second_signing_key !== undefined && entry.signing_key === undefined) {
      findings.problem(at.file, `${at.path}.second_signing_key`, 'needs a signing_key');
    }
    return [entry];
  });
}

export function readPlugins(section: Section, findings: Findings): PluginEntry[] {
  return entriesOf(section, findings).flatMap(([value, at]) => check(pluginEntrySchema, value, at, findings) ?? []);
}

/** Returns the ids of a section, also those of entries with other faults. */
export function idsOf(section: unknown): string[] {
  if (!Array.isArray(section)) return [];
  return section.flatMap((entry: unknown) => {
    const id = typeof entry === 'object' && entry !== null && 'id' in entry ? entry.id : undefined;
    return typeof id === 'string' ? [id] : [];
  });
}

/** Returns the unparsed entries of a section with their places; empty when the section is not an array. */
export function placesOf({ value, place }: Section): [unknown, Place][] {
  if (!Array.isArray(value)) return [];
  return value.map((entry: unknown, index) => [entry, { file: place.file, path: pathOf(place.path, [index]) }]);
}

function entriesOf(section: Section, findings: Findings): [unknown, Place][] {
  const { value, place } = section;
  if (value !== undefined && !Array.isArray(value)) findings.problem(place.file, place.path, 'must be an array');
  const seen = new Map<string, string>();
  const entries = placesOf(section);
  for (const [entry, at] of entries) {
    const [id] = idsOf([entry]);
    const earlier = id === undefined ? undefined : seen.get(id);
    if (earlier !== undefined) findings.problem(at.file, `${at.path}.id`, `"${id}" is already the id of ${earlier}`);
    else if (id !== undefined) seen.set(id, at.path);
  }
  return entries;
}

function reportUnknownKeys(value: unknown, at: Place, findings: Findings): void {
  if (typeof value !== 'object' || value === null) return;
  const known = Object.keys(relayerEntrySchema.shape);
  for (const key of Object.keys(value)) if (!known.includes(key)) reportIgnored(key, known, at, findings);
}
