import type { JsonObject } from '../domain/json/json.ts';
import type { Notification } from '../domain/notification.ts';
import type { Log } from '../observability/log.ts';
import type { Store, Writer } from '../store/store.ts';
import { isDeclaredAsBefore } from './declared-value.ts';

/** A notification as the configuration declares it. */
export interface DeclaredNotification {
  id: string;
  type: 'webhook';
  url: string;
  signing_key?: { type: 'env' | 'plain'; value: string } | undefined;
}

/**
 * Brings the declared notifications and the stored ones together. An address follows the rule of the relayers' fields:
 * it is the file's when the file has changed, else what clients made of it. A signing key that the file refers to is
 * always read anew; one that a client gave stays while the file never named any. What is no longer declared stays,
 * with a warning. With `reset` all is as the file says, and what it does not declare goes.
 * @param secretOf reads what an entry refers to
 */
export async function applyNotifications(
  store: Store,
  declared: readonly DeclaredNotification[],
  secretOf: (secret: { type: 'env' | 'plain'; value: string }) => string,
  log: Log,
  { reset = false } = {},
): Promise<void> {
  const known = new Set(declared.map(({ id }) => id));
  await store.write(async (writer) => {
    if (reset) await dropOthers(writer, known);
    for (const entry of declared) {
      const stored = reset ? undefined : await writer.notification(entry.id);
      await merge(writer, entry, stored, entry.signing_key === undefined ? null : secretOf(entry.signing_key));
    }
  });
  for (const { id, declaration } of await store.read.allNotifications()) {
    if (declaration !== null && !known.has(id)) {
      log.warn({ notification: id }, 'a notification is no longer declared; it stays as it is stored');
    }
  }
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
  key: string | null,
): Promise<void> {
  const { id, type } = entry;
  const declaration = withoutSecrets(entry);
  const keepsUrl = stored !== undefined && isDeclaredAsBefore('url', declaration, stored.declaration);
  await writer.putNotification({ id, type, url: keepsUrl ? stored.url : entry.url, declaration });
  const keepsKey = stored !== undefined && isDeclaredAsBefore('signing_key', declaration, stored.declaration);
  if (key !== null || !keepsKey) await writer.putSigningKey(id, key);
}

/** What is remembered of an entry: of a key that stands in the file itself, only that there is one. */
function withoutSecrets({ url, signing_key: key }: DeclaredNotification): JsonObject {
  if (key === undefined) return { url };
  return { url, signing_key: key.type === 'env' ? { type: 'env', value: key.value } : { type: 'plain' } };
}
