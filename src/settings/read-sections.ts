import { z } from 'zod';
import { didYouMean } from '../domain/json/issue-text.ts';
import type { Json, JsonObject } from '../domain/json/json.ts';
import { networkTypeSchema } from '../domain/network-type.ts';
import type { Network } from '../features/networks/record.ts';
import { type PluginEntry, pluginEntrySchema } from '../features/plugins/records/plugin.ts';
import { type ConfigurationPlace, configurationPath, parseOrReport, reportIgnored, schemaKeysAt } from './check.ts';
import type { KnownChains, KnownSignerKinds, RelayerEntry, SignerEntry } from './configuration.ts';
import { MIN_KEY_LENGTH } from './environment.ts';
import type { ConfigurationFindings } from './problems.ts';
import { type NotificationEntry, notificationEntrySchema, relayerEntrySchema, signerEntrySchema } from './schema.ts';
import type { Variables } from './secrets.ts';

/** A section of the configuration file: an array of entries, each with a unique id. */
export interface ConfigurationSection {
  value: unknown;
  place: ConfigurationPlace;
}

export function readRelayers(
  section: ConfigurationSection,
  chains: KnownChains,
  findings: ConfigurationFindings,
): RelayerEntry[] {
  return entriesOf(section, findings).flatMap(([value, at]) => {
    reportUnknownKeys(value, at, findings);
    const entry = parseOrReport(relayerEntrySchema, value, at, findings);
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
  at: ConfigurationPlace,
  { networks, chains }: { networks: readonly Network[]; chains: KnownChains },
  findings: ConfigurationFindings,
): void {
  const settings = networks.find(({ type, name }) => type === networkType && name === network)?.settings;
  const fault = chains.get(networkType)?.policyFault?.(policies, network, settings) ?? null;
  if (fault !== null) findings.problem(at.file, `${at.path}.policies`, fault);
}

/** Reads policies by the network type, also for an entry with other faults. */
function readPolicies(
  value: unknown,
  at: ConfigurationPlace,
  chains: KnownChains,
  findings: ConfigurationFindings,
): JsonObject | undefined {
  const { network_type: type, policies } = policiesSchema.safeParse(value).data ?? {};
  if (type === undefined) return undefined;
  const chain = chains.get(type);
  if (chain !== undefined) {
    const place = { file: at.file, path: `${at.path}.policies` };
    return parseOrReport(
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
function withoutIgnored(
  schema: z.ZodType,
  policies: unknown,
  at: ConfigurationPlace,
  findings: ConfigurationFindings,
): unknown {
  const kept: unknown = structuredClone(policies);
  for (const issue of schema.safeParse(policies).error?.issues ?? []) {
    if (issue.code !== 'unrecognized_keys' || issue.path.length < 2) continue;
    const holder = issue.path.reduce((part, step) => Reflect.get(part as object, step) as unknown, kept);
    for (const key of issue.keys) {
      const holderAt = { file: at.file, path: configurationPath(at.path, issue.path) };
      reportIgnored(key, schemaKeysAt(schema, issue.path), holderAt, findings);
      Reflect.deleteProperty(holder as object, key);
    }
  }
  return kept;
}

const policiesSchema = z.object({ network_type: networkTypeSchema, policies: z.unknown().optional() });

export function readSigners(
  section: ConfigurationSection,
  kinds: KnownSignerKinds,
  findings: ConfigurationFindings,
): SignerEntry[] {
  return entriesOf(section, findings).flatMap(([value, at]) => {
    const entry = parseOrReport(signerEntrySchema, value, at, findings);
    if (entry === undefined) return [];
    const kind = kinds.get(entry.type);
    if (kind === undefined) {
      const advice = didYouMean(entry.type, kinds.keys()) ?? `Known: ${[...kinds.keys()].join(', ')}`;
      findings.problem(at.file, `${at.path}.type`, `there is no signer type "${entry.type}"`, advice);
      return [];
    }
    const config = parseOrReport(
      kind.configSchema,
      entry.config,
      { file: at.file, path: `${at.path}.config` },
      findings,
    );
    return config === undefined ? [] : [entry];
  });
}

export function readNotifications(
  section: ConfigurationSection,
  variables: Variables,
  findings: ConfigurationFindings,
): NotificationEntry[] {
  return entriesOf(section, findings).flatMap(([value, at]) => {
    const entry = parseOrReport(notificationEntrySchema, value, at, findings);
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

export function readPlugins(section: ConfigurationSection, findings: ConfigurationFindings): PluginEntry[] {
  return entriesOf(section, findings).flatMap(
    ([value, at]) => parseOrReport(pluginEntrySchema, value, at, findings) ?? [],
  );
}

/** Returns the ids of a section, also those of entries with other faults. */
export function sectionIds(section: unknown): string[] {
  if (!Array.isArray(section)) return [];
  return section.flatMap((entry: unknown) => {
    const id = typeof entry === 'object' && entry !== null && 'id' in entry ? entry.id : undefined;
    return typeof id === 'string' ? [id] : [];
  });
}

/** Returns the unparsed entries of a section with their places; empty when the section is not an array. */
export function sectionEntries({ value, place }: ConfigurationSection): [unknown, ConfigurationPlace][] {
  if (!Array.isArray(value)) return [];
  return value.map((entry: unknown, index) => [
    entry,
    { file: place.file, path: configurationPath(place.path, [index]) },
  ]);
}

function entriesOf(section: ConfigurationSection, findings: ConfigurationFindings): [unknown, ConfigurationPlace][] {
  const { value, place } = section;
  if (value !== undefined && !Array.isArray(value)) findings.problem(place.file, place.path, 'must be an array');
  const seen = new Map<string, string>();
  const entries = sectionEntries(section);
  for (const [entry, at] of entries) {
    const [id] = sectionIds([entry]);
    const earlier = id === undefined ? undefined : seen.get(id);
    if (earlier !== undefined) findings.problem(at.file, `${at.path}.id`, `"${id}" is already the id of ${earlier}`);
    else if (id !== undefined) seen.set(id, at.path);
  }
  return entries;
}

function reportUnknownKeys(value: unknown, at: ConfigurationPlace, findings: ConfigurationFindings): void {
  if (typeof value !== 'object' || value === null) return;
  const known = Object.keys(relayerEntrySchema.shape);
  for (const key of Object.keys(value)) if (!known.includes(key)) reportIgnored(key, known, at, findings);
}
