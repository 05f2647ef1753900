import { AppError, invalidRequest } from '../../domain/errors.ts';
import type { JsonObject, WireObject } from '../../domain/json/json.ts';
import { isMaskedUrl, maskKeys } from '../../domain/mask-url.ts';
import { BlockedAddressError } from '../../egress/address-guard.ts';
import type { WebhookClient } from '../../egress/webhook-client.ts';
import type { Log } from '../../observability/log.ts';
import type { Store, StoreReader, StoreWriter } from '../../store/store.ts';
import type { AuditedChange } from '../audit/record.ts';
import { earlierEffect } from '../effects.ts';
import { visibleRelayerUsers } from '../relayers/records/relayer-users.ts';
import { parseBody } from '../request-body.ts';
import type { NotificationsService } from '../services.ts';
import { changeSettingsOnce } from '../settings-change.ts';
import {
  hasDeclaredAddress,
  MIN_SIGNING_KEY_BYTES,
  type Notification,
  notificationCreateSchema,
  notificationUpdateSchema,
  type SigningKeyField,
} from './records/notification.ts';

export interface NotificationsDeps {
  store: Store;
  webhooks: Pick<WebhookClient, 'check'>;
  log: Log;
  /** A new id (`domain/id.ts`). */
  newId(): string;
}

/**
 * Webhook targets and their signing keys. Refuses an address that the policy never allows. An address behind a host
 * name is checked when it is called.
 */
export function createNotificationsService({ store, webhooks, log, newId }: NotificationsDeps): NotificationsService {
  const warnOfShortKeys = (id: string, keys: GivenKeys) => {
    for (const field of KEY_FIELDS) {
      const key = keys[field] ?? '';
      if (key === '' || Buffer.byteLength(key) >= MIN_SIGNING_KEY_BYTES) continue;
      log.warn({ notification: id, field }, `the signing key has fewer than ${MIN_SIGNING_KEY_BYTES} bytes`);
    }
  };

  /** @throws AppError `INVALID_REQUEST` */
  const checkAddress = (url: string, isDeclared: boolean) => {
    if (isMaskedUrl(url)) throw invalidRequest('url: is hidden in part, as answers show it; give the whole URL');
    try {
      webhooks.check({ url, isDeclared });
    } catch (error) {
      if (!(error instanceof BlockedAddressError)) throw error;
      throw invalidRequest(`url: ${error.message}`, error);
    }
  };

  return {
    async get(id) {
      return notificationView(await find(store.read, id));
    },

    async list(page) {
      const { items, total } = await store.read.notifications(page);
      return { items: items.map(notificationView), total };
    },

    async create(body, by) {
      const { id: asked, url, ...keys } = parseBody(notificationCreateSchema, body);
      checkAddress(url, false);
      const id = asked ?? newId();
      const { made } = await changeSettingsOnce(store, by, async (writer) => {
        if ((await writer.notification(id)) !== undefined) throw new AppError('NOTIFICATION_EXISTS', { id });
        await writer.putNotification({ id, type: 'webhook', url, declaration: null });
        const secrets = await putKeys(writer, id, keys);
        const after = notificationView(await find(writer, id));
        return { outcome: after, audit: audited('create', id, { before: null, after }, secrets) };
      });
      warnOfShortKeys(id, keys);
      return made.outcome as WireObject;
    },

    async update(id, body, by) {
      const earlier = await earlierEffect(store.read, by.effect);
      if (earlier?.outcome !== undefined) return earlier.outcome as WireObject;
      const seen = await find(store.read, id);
      const { url: given, ...keys } = parseBody(notificationUpdateSchema, body);
      // A client that reads the notification, changes one field and writes all sends back the masked URL.
      const url = given === maskKeys(seen.url) ? undefined : given;
      if (url !== undefined) checkAddress(url, hasDeclaredAddress({ ...seen, url }));
      const { made } = await changeSettingsOnce(store, by, async (writer) => {
        const notification = await find(writer, id);
        const before = notificationView(notification);
        await writer.putNotification({ ...notification, url: url ?? notification.url });
        const secrets = await putKeys(writer, id, keys);
        const after = notificationView(await find(writer, id));
        return { outcome: after, audit: audited('update', id, { before, after }, secrets) };
      });
      warnOfShortKeys(id, keys);
      return made.outcome as WireObject;
    },

    async remove(id, by) {
      await changeSettingsOnce(store, by, async (writer) => {
        const before = notificationView(await find(writer, id));
        const users = (await writer.allRelayers()).filter(({ notificationId }) => notificationId === id);
        if (users.length > 0) {
          throw new AppError('NOTIFICATION_IN_USE', { id, ...visibleRelayerUsers(users, by) });
        }
        await writer.deleteNotification(id);
        return { outcome: null, audit: audited('delete', id, { before, after: null }) };
      });
    },
  };
}

function audited(
  action: AuditedChange['action'],
  resourceId: string,
  views: Pick<AuditedChange, 'before' | 'after'>,
  secrets: readonly string[] = [],
): AuditedChange {
  return { action, resource: 'notification', resourceId, ...views, secrets };
}

type GivenKeys = Readonly<Partial<Record<SigningKeyField, string | null | undefined>>>;

const KEY_FIELDS: readonly SigningKeyField[] = ['signing_key', 'second_signing_key'];

/**
 * Stores the given keys. Absent and null leave a key; an empty text removes it.
 * @returns the fields that were set or removed
 * @throws AppError `INVALID_REQUEST` for a second key without a first, which the reference's receivers check
 */
async function putKeys(writer: StoreWriter, id: string, keys: GivenKeys): Promise<SigningKeyField[]> {
  const changed: SigningKeyField[] = [];
  for (const field of KEY_FIELDS) {
    const key = keys[field] ?? undefined;
    if (key === undefined) continue;
    await writer.putSigningKey(id, key === '' ? null : key, field);
    changed.push(field);
  }
  const { hasSigningKey, hasSecondSigningKey } = await find(writer, id);
  if (hasSecondSigningKey && !hasSigningKey) {
    throw invalidRequest('second_signing_key: needs a signing_key');
  }
  return changed;
}

async function find(read: StoreReader, id: string): Promise<Notification> {
  const notification = await read.notification(id);
  if (notification === undefined) throw new AppError('NOTIFICATION_NOT_FOUND', { id });
  return notification;
}

/**
 * The view of a notification. Fields are in the reference's order. Our own field is present only while there is a
 * second key. The address is masked, because anybody with the whole address can often write to its receiver.
 */
function notificationView({ id, type, url, hasSigningKey, hasSecondSigningKey }: Notification): JsonObject {
  const view = { id, type, url: maskKeys(url), has_signing_key: hasSigningKey };
  return hasSecondSigningKey ? { ...view, has_second_signing_key: true } : view;
}
