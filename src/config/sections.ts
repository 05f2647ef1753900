import type { Json } from '../domain/json.ts';
import { type PluginEntry, pluginEntrySchema } from '../domain/plugin.ts';
import type { KnownChains, KnownSignerKinds } from './chain-schemas.ts';
import { check, type Place, pathOf } from './check.ts';
import type { RelayerEntry, SignerEntry } from './configuration.ts';
import { LEAST_KEY_LENGTH } from './environment.ts';
import { didYouMean } from './nearest.ts';
import type { Findings } from './problems.ts';
import { type NotificationEntry, notificationEntrySchema, relayerEntrySchema, signerEntrySchema } from './schema.ts';
import type { Variables } from './secrets.ts';

/** One section of the configuration file: an array of entries, each with an id of its own. */
export interface Section {
  value: unknown;
  place: Place;
}

export function readRelayers(section: Section, chains: KnownChains, findings: Findings): RelayerEntry[] {
  return entriesOf(section, findings).flatMap(([value, at]) => {
    warnOfUnknownKeys(value, at, findings);
    const entry = check(relayerEntrySchema, value, at, findings);
    if (entry === undefined) return [];
    const chain = chains.get(entry.network_type);
    if (chain === undefined) {
      const message = `relayers of type ${entry.network_type} are not available in this version`;
      findings.problem(at.file, `${at.path}.network_type`, message, `Available: ${[...chains.keys()].join(', ')}`);
      return [];
    }
    const policiesAt = { file: at.file, path: `${at.path}.policies` };
    const policies = check(chain.policySchema, entry.policies ?? {}, policiesAt, findings);
    if (policies === undefined) return [];
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
    const { signing_key: secret } = entry;
    const key = secret?.type === 'env' ? variables[secret.value] : secret?.value;
    if (key !== undefined && key.length < LEAST_KEY_LENGTH) {
      findings.warn(at.file, `${at.path}.signing_key`, `the key has fewer than ${LEAST_KEY_LENGTH} characters`);
    }
    return [entry];
  });
}

export function readPlugins(section: Section, findings: Findings): PluginEntry[] {
  return entriesOf(section, findings).flatMap(([value, at]) => check(pluginEntrySchema, value, at, findings) ?? []);
}

/** The ids of a section, also of entries that have other faults. */
export function idsOf({ value }: Section): string[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((entry: unknown) => {
    const id = typeof entry === 'object' && entry !== null && 'id' in entry ? entry.id : undefined;
    return typeof id === 'string' ? [id] : [];
  });
}

function entriesOf(section: Section, findings: Findings): [unknown, Place][] {
  const { value, place } = section;
  if (value === undefined) return [];
  if (!Array.isArray(value)) {
    findings.problem(place.file, place.path, 'must be an array');
    return [];
  }
  const seen = new Map<string, string>();
  return value.map((entry: unknown, index): [unknown, Place] => {
    const at = { file: place.file, path: pathOf(place.path, [index]) };
    const [id] = idsOf({ value: [entry], place });
    const earlier = id === undefined ? undefined : seen.get(id);
    if (earlier !== undefined) findings.problem(at.file, `${at.path}.id`, `"${id}" is already the id of ${earlier}`);
    else if (id !== undefined) seen.set(id, at.path);
    return [entry, at];
  });
}

/** The reference ignores them, so files exist that have some; a slip in a name is still worth a line. */
function warnOfUnknownKeys(value: unknown, at: Place, findings: Findings): void {
  if (typeof value !== 'object' || value === null) return;
  const known = Object.keys(relayerEntrySchema.shape);
  for (const key of Object.keys(value).filter((one) => !known.includes(one))) {
    findings.warn(at.file, `${at.path}.${key}`, 'unknown key, ignored', didYouMean(key, known));
  }
}
