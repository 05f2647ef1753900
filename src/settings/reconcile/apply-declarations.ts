import type { Json, JsonObject } from '../../domain/json/json.ts';
import { comparableDeclaration, isDeclaredAsBefore } from '../../features/compare-declarations.ts';
import { rpcUrlsDigest } from '../../features/networks/networks.ts';
import type { ConfiguredNetwork } from '../../features/networks/record.ts';
import { pluginFieldDigest } from '../../features/plugins/plugins.ts';
import { type PluginEntry, undeclaredPluginEntry } from '../../features/plugins/records/plugin.ts';
import {
  PLUGIN_SETTINGS,
  type PluginSettings,
  type StoredPlugin,
} from '../../features/plugins/records/plugin-settings.ts';
import type { Relayer } from '../../features/relayers/records/relayer.ts';
import { unreachedReason } from '../../features/relayers/relayer-create.ts';
import type { Notification } from '../../features/webhooks/records/notification.ts';
import type { Log } from '../../observability/log.ts';
import type { SignerDeclaration } from '../../signers/registry.ts';
import type { Store, StoreWriter } from '../../store/store.ts';

/** A relayer as the configuration declares it, with the address of its signer. */
export type DeclaredRelayer = Omit<Relayer, 'disabledReason' | 'declaration'> & { declaration: Json };

/** The fields that clients can change, each with its key in the configuration file. */
const CHANGEABLE = {
  name: 'name',
  paused: 'paused',
  notificationId: 'notification_id',
  customRpcUrls: 'custom_rpc_urls',
  policies: 'policies',
} as const satisfies Partial<Record<keyof Relayer, string>>;

/** Keys whose values may hold credentials. */
const SECRET_KEYS = ['custom_rpc_urls'];

/**
 * Merges the declared relayers into the stored ones. A field whose declared value changed since the last start takes
 * the declared value. All other fields keep their stored value, which clients may have changed. A relayer that is no
 * longer declared stays, with a warning.
 *
 * With `reset`, every field takes its declared value. A relayer that is not declared is deleted, unless it has a
 * transaction under way. Transactions stay.
 * @param declaredIds the ids of all declared relayers, also of those whose address is not known yet
 */
export async function applyRelayers(
  store: Store,
  declared: readonly DeclaredRelayer[],
  log: Log,
  { reset = false, declaredIds = declared.map(({ id }) => id) } = {},
): Promise<void> {
  const known = new Set(declaredIds);
  // All in one commit, so that instances that start together apply the file one after the other.
  await store.write(async (writer) => {
    if (reset) await deleteUndeclaredRelayers(writer, known);
    for (const entry of declared) await putRelayer(writer, entry, reset);
  });
  for (const { id, declaration } of await store.read.allRelayers()) {
    if (declaration !== null && !known.has(id)) {
      log.warn({ relayerId: id }, 'a relayer is no longer declared; it stays as it is stored');
    }
  }
}

/** Merges the relayers whose declaration changed while the service runs. All others stay as they are. */
export async function applyChangedRelayers(
  store: Pick<Store, 'write'>,
  changed: readonly DeclaredRelayer[],
): Promise<void> {
  await store.write(async (writer) => {
    await writer.lockSettings();
    for (const entry of changed) await putRelayer(writer, entry, false);
  });
}

async function putRelayer(writer: StoreWriter, entry: DeclaredRelayer, reset: boolean): Promise<void> {
  const relayer = { ...entry, declaration: comparableDeclaration(entry.declaration, SECRET_KEYS) };
  const merged = mergeRelayer(relayer, reset ? undefined : await writer.relayer(relayer.id));
  await writer.putRelayer({
    ...merged,
    disabledReason: merged.disabledReason ?? (await unreachedReason(writer, relayer)),
  });
}

async function deleteUndeclaredRelayers(writer: StoreWriter, declared: ReadonlySet<string>): Promise<void> {
  const busy = new Set((await writer.openCounts()).map(({ relayerId }) => relayerId));
  for (const { id } of await writer.allRelayers()) {
    if (!declared.has(id) && !busy.has(id)) await writer.deleteRelayer(id);
  }
}

function mergeRelayer(declared: DeclaredRelayer, stored: Relayer | undefined): Relayer {
  if (stored === undefined) return { ...declared, disabledReason: null };
  const kept = Object.entries(CHANGEABLE)
    .filter(([, key]) => isDeclaredAsBefore(key, declared.declaration, stored.declaration))
    .map(([field]) => [field, stored[field as keyof Relayer]]);
  return { ...declared, disabledReason: stored.disabledReason, ...Object.fromEntries(kept) };
}

type DeclaredSecret = { type: 'env' | 'plain'; value: string };

/** A notification as the configuration declares it. */
export interface DeclaredNotification {
  id: string;
  type: 'webhook';
  url: string;
  signing_key?: DeclaredSecret | undefined;
  second_signing_key?: DeclaredSecret | undefined;
}

/**
 * Merges the declared notifications into the stored ones. An address follows the rule of relayer fields: the declared
 * address counts if the declaration changed, otherwise the stored one. A declared signing key is always read again. A
 * signing key that a client set stays as long as the file never declared one. A notification that is no longer declared
 * stays, with a warning. With `reset`, all is as declared, and notifications that are not declared are deleted.
 * @param secretOf reads the secret that an entry refers to
 */
export async function applyNotifications(
  store: Store,
  declared: readonly DeclaredNotification[],
  secretOf: (secret: DeclaredSecret) => string,
  log: Log,
  { reset = false } = {},
): Promise<void> {
  const known = new Set(declared.map(({ id }) => id));
  await store.write(async (writer) => {
    if (reset) await deleteUndeclaredNotifications(writer, known);
    for (const entry of declared) {
      const stored = reset ? undefined : await writer.notification(entry.id);
      await mergeNotification(writer, entry, stored, secretOf);
    }
  });
  for (const { id, declaration } of await store.read.allNotifications()) {
    if (declaration !== null && !known.has(id)) {
      log.warn({ notification: id }, 'a notification is no longer declared; it stays as it is stored');
    }
  }
}

/** Merges the notifications whose declaration changed while the service runs. All others stay as they are. */
export async function applyChangedNotifications(
  store: Pick<Store, 'write'>,
  changed: readonly DeclaredNotification[],
  secretOf: (secret: DeclaredSecret) => string,
): Promise<void> {
  await store.write(async (writer) => {
    await writer.lockSettings();
    for (const entry of changed) await mergeNotification(writer, entry, await writer.notification(entry.id), secretOf);
  });
}

async function deleteUndeclaredNotifications(writer: StoreWriter, declared: ReadonlySet<string>): Promise<void> {
  for (const { id } of await writer.allNotifications()) {
    if (!declared.has(id)) await writer.deleteNotification(id);
  }
}

async function mergeNotification(
  writer: StoreWriter,
  entry: DeclaredNotification,
  stored: Notification | undefined,
  secretOf: (secret: DeclaredSecret) => string,
): Promise<void> {
  const { id, type } = entry;
  const declaration = withoutSecrets(entry);
  const keepsUrl = stored !== undefined && isDeclaredAsBefore('url', declaration, stored.declaration);
  await writer.putNotification({ id, type, url: keepsUrl ? stored.url : entry.url, declaration });
  for (const field of ['signing_key', 'second_signing_key'] as const) {
    const secret = entry[field];
    const keepsKey = stored !== undefined && isDeclaredAsBefore(field, declaration, stored.declaration);
    if (secret !== undefined) await writer.putSigningKey(id, secretOf(secret), field);
    else if (!keepsKey) await writer.putSigningKey(id, null, field);
  }
}

/**
 * Returns an entry as it is stored for comparison. For a key written in the file itself, it stores only that there is
 * one.
 */
function withoutSecrets({ url, signing_key: first, second_signing_key: second }: DeclaredNotification): JsonObject {
  return {
    url,
    ...(first && { signing_key: withoutValue(first) }),
    ...(second && { second_signing_key: withoutValue(second) }),
  };
}

function withoutValue({ type, value }: DeclaredSecret): JsonObject {
  return type === 'env' ? { type, value } : { type };
}

/**
 * Merges the configured signers with clients' signers. If both have the same id, the configured signer counts. With
 * `reset`, clients' signers that no relayer uses are deleted.
 */
export async function applySigners(
  store: Pick<Store, 'write'>,
  declared: readonly Pick<SignerDeclaration, 'id'>[],
  log: Log,
  { reset = false } = {},
): Promise<void> {
  const known = new Set(declared.map(({ id }) => id));
  const hidden = await store.write(async (writer) => {
    const used = new Set((await writer.allRelayers()).map(({ signerId }) => signerId));
    const kept: string[] = [];
    for (const { id } of await writer.allSigners()) {
      if (reset && (!used.has(id) || known.has(id))) await writer.deleteSigner(id);
      else if (known.has(id)) kept.push(id);
    }
    return kept;
  });
  for (const id of hidden)
    log.warn({ signer: id }, 'a signer of the configuration replaces one that was made over the API');
}

/**
 * Merges the configured networks with clients' changes. If a file's endpoints for a network changed, the file's count.
 * Otherwise the endpoints that clients set count. With `reset`, the files alone count, except that clients' networks
 * with relayers stay.
 */
export async function applyNetworks(
  store: Pick<Store, 'write'>,
  configured: readonly ConfiguredNetwork[],
  log: Log,
  { reset = false } = {},
): Promise<void> {
  const declared = new Map(
    configured.filter(({ isBuiltIn }) => !isBuiltIn).map((network) => [`${network.type}:${network.name}`, network]),
  );
  const dropped = await store.write(async (writer) => {
    const used = new Set((await writer.allRelayers()).map(({ networkType, network }) => `${networkType}:${network}`));
    const gone: string[] = [];
    for (const { type, name, settings, declaration } of await writer.storedNetworks()) {
      const key = `${type}:${name}`;
      const entry = declared.get(key);
      const isOutdated = entry !== undefined && rpcUrlsDigest(entry.rpcUrls) !== declaration;
      if (!isOutdated && (!reset || (settings !== null && used.has(key)))) continue;
      await writer.deleteNetwork(type, name);
      if (!reset) gone.push(key);
    }
    return gone;
  });
  for (const network of dropped) log.warn({ network }, 'a network is as its file declares it again');
}

/**
 * Merges the declared plugins with clients' changes. If the declared value of a field changed since a client's change,
 * the declared value counts. With `reset`, the declared values alone count.
 */
export async function applyPlugins(
  store: Pick<Store, 'write'>,
  declared: readonly PluginEntry[],
  { reset = false } = {},
): Promise<void> {
  const entries = new Map(declared.map((entry) => [entry.id, entry]));
  await store.write(async (writer) => {
    for (const plugin of await writer.storedPlugins()) {
      const { pluginId } = plugin;
      // A plugin that was dropped into the folder has no entry. Its path does not affect these fields, so the id can
      // stand for it.
      const entry = entries.get(pluginId) ?? undeclaredPluginEntry(pluginId, pluginId);
      if (reset) await writer.deletePlugin(pluginId);
      else await writer.putPlugin({ ...plugin, settings: keptSettings(plugin, entry) });
    }
  });
}

function keptSettings({ settings, declared }: StoredPlugin, entry: PluginEntry): PluginSettings {
  const kept = PLUGIN_SETTINGS.filter(
    (name) => settings[name] !== undefined && declared[name] === pluginFieldDigest(entry, name),
  );
  return Object.fromEntries(kept.map((name) => [name, settings[name]]));
}
