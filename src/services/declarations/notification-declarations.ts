import type { JsonObject } from '../../domain/json/json.ts';
import type { Notification } from '../../domain/settings/notification.ts';
import type { Log } from '../../observability/log.ts';
import type { Store, Writer } from '../../store/store.ts';
import { isDeclaredAsBefore } from './declared-value.ts';

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
    if (reset) await dropOthers(writer, known);
    for (const entry of declared) {
      const stored = reset ? undefined : await writer.notification(entry.id);
      await merge(writer, entry, stored, secretOf);
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
    for (const entry of changed) await merge(writer, entry, await writer.notification(entry.id), secretOf);
  });
}

async function dropOthers(writer: Writer, declared: ReadonlySet<string>): Promise<void> {
  for (const { id } of await writer.allNotifications()) {
    if (!declared.has(id)) await writer.deleteNotification(id);
  }
}

async function merge(
  writer: Writer,
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
