import type { ConfiguredNetwork } from '../features/networks/record.ts';
import type { PluginEntry } from '../features/plugins/records/plugin.ts';
import type { Configuration, RelayerEntry } from './configuration.ts';
import { ConfigurationFindings } from './problems.ts';
import { checkSecrets, type Variables } from './secrets.ts';

/** A list of the configuration file. */
export type SectionName = 'relayers' | 'signers' | 'notifications' | 'networks' | 'plugins';

/** The fields of an entry that cannot change while the service runs. All others can. */
const FIXED: Readonly<Record<SectionName, 'all' | readonly string[]>> = {
  relayers: ['network', 'network_type', 'signer_id'],
  signers: 'all',
  notifications: [],
  networks: 'all',
  plugins: [],
};

/** Whether changing a field of an existing entry takes effect only after a restart. */
export function needsRestart(section: SectionName, field: string): boolean {
  const fixed = FIXED[section];
  return fixed === 'all' || fixed.includes(field);
}

/** The changes of the configuration. Places are written like `relayers[0].policies`. */
export interface ConfigurationChanges {
  /** The configuration that the running service uses from now on. */
  configuration: Configuration;
  /** The places of changes that take effect now. */
  applied: string[];
  /** The places of changes that take effect after a restart. */
  waiting: string[];
  /** Relayers and notifications that the file no longer has. */
  undeclared: string[];
  /** The changed entries that take effect now. */
  relayers: RelayerEntry[];
  notifications: Configuration['notifications'];
  /** The ids of changed plugins, including removed ones. */
  pluginIds: ReadonlySet<string>;
}

/** Facts from the running instance that are not in the files. */
export interface RunningFacts {
  /** Whether the stored relayer has another account or network than the entry. */
  isOther(entry: RelayerEntry): boolean;
  /** The variables that a signer type reads by itself, without being named in an entry. */
  variablesOf(signerType: string): readonly string[];
}

/** Compares the running configuration with the current files. */
export function compareConfigurations(
  was: Configuration,
  now: Configuration,
  running: RunningFacts,
): ConfigurationChanges {
  const isOtherValue = (name: string) => was.variables[name] !== now.variables[name];
  const signers = compared('signers', was.signers, now.signers, {
    keyOf: ({ id }) => id,
    touched: ({ config, type }) =>
      [...secretsIn(config), ...running.variablesOf(type)].some(isOtherValue) ? ['config'] : [],
  });
  const networks = compared('networks', was.networks, now.networks, { keyOf: networkKey, placeOf: networkPlace });
  const notifications = compared('notifications', was.notifications, now.notifications, {
    keyOf: ({ id }) => id,
    touched: (entry) =>
      (['signing_key', 'second_signing_key'] as const).filter((key) => secretsIn(entry[key]).some(isOtherValue)),
  });
  const plugins = compared('plugins', was.plugins, now.plugins, {
    keyOf: ({ id }) => id,
    touched: (entry) => [
      ...(grantedTo(entry).some(isOtherValue) ? ['permissions.env'] : []),
      ...(secretsIn(entry.triggers).some(isOtherValue) ? ['triggers'] : []),
    ],
  });
  const relayers = compared('relayers', was.relayers, now.relayers, {
    keyOf: ({ id }) => id,
    fieldsOf: ({ declaration }) => declaration as object,
  });

  const isFixedAnew = ({ entry, isNew, fields }: Difference<RelayerEntry>) =>
    running.isOther(entry) ||
    fields.some((field) => needsRestart('relayers', field)) ||
    (isNew &&
      (signers.has(entry.signerId) || networks.has(networkKey({ type: entry.networkType, name: entry.network }))));
  const [later, live] = parted(relayers.changed, isFixedAnew);
  const waitingIds = new Set(later.map(({ entry }) => entry.id));
  const kept = new Map(was.relayers.map((entry) => [entry.id, entry]));
  const nowRelayers = now.relayers.flatMap((entry) => (waitingIds.has(entry.id) ? (kept.get(entry.id) ?? []) : entry));

  return {
    configuration: {
      ...was,
      variables: now.variables,
      relayers: nowRelayers,
      warnings: now.warnings,
      plugins: now.plugins,
      notifications: now.notifications,
    },
    applied: [...live, ...notifications.changed, ...plugins.changed]
      .flatMap(({ places }) => places)
      .concat(plugins.gone),
    waiting: [
      ...[...later, ...signers.changed, ...networks.changed].flatMap(({ places }) => places),
      ...[...signers.gone, ...networks.gone],
      ...environmentChanges(was, now),
    ],
    undeclared: [...relayers.gone, ...notifications.gone],
    relayers: live.map(({ entry }) => entry),
    notifications: notifications.changed.map(({ entry }) => entry),
    pluginIds: new Set([...plugins.changed.map(({ entry }) => entry.id), ...plugins.goneKeys]),
  };
}

/** An entry that is new or changed. */
interface Difference<T> {
  entry: T;
  isNew: boolean;
  /** The changed fields; empty for a new entry. */
  fields: string[];
  places: string[];
}

interface Compared<T> {
  changed: Difference<T>[];
  /** The places of removed entries. */
  gone: string[];
  goneKeys: string[];
  /** Whether the entry with this key is new or changed. */
  has(key: string): boolean;
}

interface Ways<T> {
  keyOf(entry: T): string;
  /** Returns the object that is compared field by field; absent: the entry itself. */
  fieldsOf?: (entry: T) => object;
  /** Returns fields whose meaning changed because of the variables they refer to. */
  touched?: (entry: T) => readonly string[];
  placeOf?: (entry: T) => string;
}

function compared<T extends object>(
  section: SectionName,
  was: readonly T[],
  now: readonly T[],
  ways: Ways<T>,
): Compared<T> {
  const { keyOf, fieldsOf = (entry: T) => entry, touched = () => [], placeOf } = ways;
  const before = new Map(was.map((entry) => [keyOf(entry), entry]));
  const after = new Set(now.map(keyOf));
  const changed = now.flatMap((entry, index): Difference<T>[] => {
    const place = placeOf?.(entry) ?? `${section}[${index}]`;
    const earlier = before.get(keyOf(entry));
    if (earlier === undefined) return [{ entry, isNew: true, fields: [], places: [place] }];
    const fields = [...new Set([...differingFields(fieldsOf(earlier), fieldsOf(entry)), ...touched(entry)])];
    return fields.length === 0
      ? []
      : [{ entry, isNew: false, fields, places: fields.map((field) => `${place}.${field}`) }];
  });
  const gone = was.filter((entry) => !after.has(keyOf(entry)));
  const differing = new Set(changed.map(({ entry }) => keyOf(entry)));
  return {
    changed,
    gone: gone.map((entry) => placeOf?.(entry) ?? `${section} "${keyOf(entry)}"`),
    goneKeys: gone.map(keyOf),
    has: (key) => differing.has(key),
  };
}

function differingFields(was: object, now: object): string[] {
  const names = [...new Set([...Object.keys(was), ...Object.keys(now)])];
  const textOf = (holder: object, name: string) => JSON.stringify(Reflect.get(holder, name));
  return names.filter((name) => textOf(was, name) !== textOf(now, name));
}

function parted<T>(all: readonly T[], isFirst: (one: T) => boolean): [T[], T[]] {
  return [all.filter(isFirst), all.filter((one) => !isFirst(one))];
}

function networkKey({ type, name }: Pick<ConfiguredNetwork, 'type' | 'name'>): string {
  return `${type}:${name}`;
}

function networkPlace({ type, name }: ConfiguredNetwork): string {
  return `networks "${name}" (${type})`;
}

function grantedTo({ permissions }: PluginEntry): string[] {
  return permissions?.env ?? [];
}

/** The variables that a part of the configuration names. */
function secretsIn(part: unknown, variables: Variables = {}): string[] {
  return checkSecrets(part, { file: '', path: '' }, variables, new ConfigurationFindings());
}

function environmentChanges(was: Configuration, now: Configuration): string[] {
  return differingFields(was.environment, now.environment);
}
