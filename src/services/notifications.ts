import { AppError } from '../domain/errors.ts';
import type { JsonObject, WireObject } from '../domain/json.ts';
import {
  LEAST_SIGNING_KEY_BYTES,
  type Notification,
  notificationCreateSchema,
  notificationUpdateSchema,
} from '../domain/notification.ts';
import type { Log } from '../observability/log.ts';
import type { Reader, Store } from '../store/store.ts';
import { earlierEffect, writeOnce } from './effects.ts';
import { parseBody } from './request-body.ts';
import type { NotificationsService } from './services.ts';

export interface NotificationsDeps {
  store: Store;
  log: Log;
  /** A new UUID v4. */
  newId(): string;
}

/** Webhook targets and their signing keys. Whether an address may be called is decided when it is called. */
export function createNotificationsService({ store, log, newId }: NotificationsDeps): NotificationsService {
  const warnOfShortKey = (id: string, key: string) => {
    if (Buffer.byteLength(key) >= LEAST_SIGNING_KEY_BYTES) return;
    log.warn({ notification: id }, `the signing key has fewer than ${LEAST_SIGNING_KEY_BYTES} bytes`);
  };

  return {
    async get(id) {
      return notificationView(await find(store.read, id));
    },

    async list(page) {
      const { items, total } = await store.read.notifications(page);
      return { items: items.map(notificationView), total };
    },

    async create(body, effect) {
      const { id: asked, url, signing_key: key } = parseBody(notificationCreateSchema, body);
      const id = asked ?? newId();
      const { made } = await writeOnce(store, effect, async (writer) => {
        if ((await writer.notification(id)) !== undefined) throw new AppError('NOTIFICATION_EXISTS', { id });
        await writer.putNotification({ id, type: 'webhook', url, declaration: null });
        if (key != null) await writer.putSigningKey(id, key);
        return { outcome: notificationView(await find(writer, id)) };
      });
      if (key != null) warnOfShortKey(id, key);
      return made.outcome as WireObject;
    },

    async update(id, body, effect) {
      const earlier = await earlierEffect(store.read, effect);
      if (earlier?.outcome !== undefined) return earlier.outcome as WireObject;
      await find(store.read, id);
      const { signing_key: key, ...change } = parseBody(notificationUpdateSchema, body);
      const { made } = await writeOnce(store, effect, async (writer) => {
        const notification = await find(writer, id);
        await writer.putNotification({ ...notification, url: change.url ?? notification.url });
        // Absent and null leave the key, an empty text removes it.
        if (key != null) await writer.putSigningKey(id, key === '' ? null : key);
        return { outcome: notificationView(await find(writer, id)) };
      });
      if (key != null && key !== '') warnOfShortKey(id, key);
      return made.outcome as WireObject;
    },

    async remove(id, effect) {
      await writeOnce(store, effect, async (writer) => {
        await find(writer, id);
        const users = (await writer.allRelayers()).filter(({ notificationId }) => notificationId === id);
        if (users.length > 0) {
          const relayers = users.map((relayer) => relayer.id).join(', ');
          throw new AppError('NOTIFICATION_IN_USE', { id, count: String(users.length), relayers });
        }
        await writer.deleteNotification(id);
        return { outcome: null };
      });
    },
  };
}

async function find(read: Reader, id: string): Promise<Notification> {
  const notification = await read.notification(id);
  if (notification === undefined) throw new AppError('NOTIFICATION_NOT_FOUND', { id });
  return notification;
}

/** Keys in the reference's order. */
function notificationView({ id, type, url, hasSigningKey }: Notification): JsonObject {
  return { id, type, url, has_signing_key: hasSigningKey };
}
