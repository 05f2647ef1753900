import type { Json } from '../../domain/json/json.ts';
import { notReachedYet } from '../../domain/relayer/disabled-reason.ts';
import type { DisabledReason, Relayer } from '../../domain/relayer/relayer.ts';
import type { Log } from '../../observability/log.ts';
import type { Reader, Store, Writer } from '../../store/store.ts';
import { isDeclaredAsBefore, keptDeclaration } from './declared-value.ts';

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
export async function applyDeclarations(
  store: Store,
  declared: readonly DeclaredRelayer[],
  log: Log,
  { reset = false, declaredIds = declared.map(({ id }) => id) } = {},
): Promise<void> {
  const known = new Set(declaredIds);
  // All in one commit, so that instances that start together apply the file one after the other.
  await store.write(async (writer) => {
    if (reset) await dropOthers(writer, known);
    for (const entry of declared) await declare(writer, entry, reset);
  });
  for (const { id, declaration } of await store.read.allRelayers()) {
    if (declaration !== null && !known.has(id)) {
      log.warn({ relayerId: id }, 'a relayer is no longer declared; it stays as it is stored');
    }
  }
}

/** Merges the relayers whose declaration changed while the service runs. All others stay as they are. */
export async function applyChangedDeclarations(
  store: Pick<Store, 'write'>,
  changed: readonly DeclaredRelayer[],
): Promise<void> {
  await store.write(async (writer) => {
    await writer.lockSettings();
    for (const entry of changed) await declare(writer, entry, false);
  });
}

async function declare(writer: Writer, entry: DeclaredRelayer, reset: boolean): Promise<void> {
  const relayer = { ...entry, declaration: keptDeclaration(entry.declaration, SECRET_KEYS) };
  const merged = merge(relayer, reset ? undefined : await writer.relayer(relayer.id));
  await writer.putRelayer({ ...merged, disabledReason: merged.disabledReason ?? (await unreached(writer, relayer)) });
}

/** Why a relayer takes no requests before its first check; null when its chain is known. */
export async function unreached(
  read: Pick<Reader, 'chainIdentity'>,
  { networkType, network }: Pick<Relayer, 'networkType' | 'network'>,
): Promise<DisabledReason | null> {
  return (await read.chainIdentity(networkType, network)) === undefined ? notReachedYet(network) : null;
}

async function dropOthers(writer: Writer, declared: ReadonlySet<string>): Promise<void> {
  const busy = new Set((await writer.openCounts()).map(({ relayerId }) => relayerId));
  for (const { id } of await writer.allRelayers()) {
    if (!declared.has(id) && !busy.has(id)) await writer.deleteRelayer(id);
  }
}

function merge(declared: DeclaredRelayer, stored: Relayer | undefined): Relayer {
  if (stored === undefined) return { ...declared, disabledReason: null };
  const kept = Object.entries(CHANGEABLE)
    .filter(([, key]) => isDeclaredAsBefore(key, declared.declaration, stored.declaration))
    .map(([field]) => [field, stored[field as keyof Relayer]]);
  return { ...declared, disabledReason: stored.disabledReason, ...Object.fromEntries(kept) };
}
