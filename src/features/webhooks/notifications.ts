import { z } from 'zod';
import { invalidRequest } from '../../domain/errors.ts';
import { type JsonObject, memoizePerObject } from '../../domain/json/json.ts';
import { isMaskedUrl, maskKeys } from '../../domain/mask-url.ts';
import { BlockedAddressError } from '../../egress/address-guard.ts';
import type { WebhookClient } from '../../egress/webhook-client.ts';
import type { Log } from '../../observability/log.ts';
import type { StoreWriter } from '../../store/store.ts';
import { parseBody } from '../request-body.ts';
import { resource, type Written } from '../resource.ts';
import {
  hasDeclaredAddress,
  MIN_SIGNING_KEY_BYTES,
  type Notification,
  notificationCreateSchema,
  notificationUpdateSchema,
  type SigningKeyField,
} from './records/notification.ts';

const notificationSchema = z.object({
  id: z.string(),
  type: z.literal('webhook'),
  url: z.string(),
  has_signing_key: z.boolean().meta({ description: 'Whether there is a signing key, which is never returned' }),
  has_second_signing_key: z.literal(true).optional().meta({
    description: 'True if there is a second signing key, absent otherwise',
  }),
});

export interface NotificationsDeps {
  webhooks: Pick<WebhookClient, 'check'>;
  log: Log;
}

/** Webhook targets and their signing keys. No answer contains a signing key. */
export const notificationResource = resource<Notification, NotificationsDeps>({
  name: 'notification',
  title: 'webhook notification',
  noun: 'notification',
  tag: 'Notifications',
  about: 'Webhook targets. Events are delivered at least once, in order per transaction.',
  exampleId: 'accounting',
  schema: notificationSchema,
  list: { answer: 'Notifications, newest first' },
  create: {
    description:
      'With a `signing_key` each delivery has two signatures. The header `X-Signature` is base64 of HMAC-SHA256 over ' +
      'the body. The header `webhook-signature` of Standard Webhooks covers `webhook-id`, `webhook-timestamp` and ' +
      'the body. A `url` to which no delivery may ever go, such as a private address, is refused. Responses hide the ' +
      'parts of the `url` that may be a key: user-info, query, and path segments of 8 or more characters.',
    body: {
      schema: notificationCreateSchema,
      example: { id: 'my-webhook', url: 'https://example.com/hook', signing_key: 'at least 32 characters are advised' },
    },
  },
  update: {
    description:
      'A signing key that is absent or null does not change. An empty string removes it; any other string sets it. ' +
      'With a `second_signing_key`, `webhook-signature` has a signature by each key, so that receivers can change ' +
      'from one key to the other. A `url` as responses show it does not change the address. After a change, all ' +
      'events of its relayers go to the new address, also waiting events, and events of relayers that the API key ' +
      'does not see.',
    body: { schema: notificationUpdateSchema, example: { signing_key: '' } },
  },
  remove: {
    summary: 'Delete a webhook notification that no relayer uses',
    answer: 'Deleted; its waiting events are dropped',
  },

  // Fields are in the reference's order. Our own field is present only while there is a second key. The address is
  // masked, because anybody with the whole address can often write to its receiver.
  view: memoizePerObject(({ id, type, url, hasSigningKey, hasSecondSigningKey }: Notification) => {
    const view: JsonObject = { id, type, url: maskKeys(url), has_signing_key: hasSigningKey };
    return Object.freeze(hasSecondSigningKey ? { ...view, has_second_signing_key: true } : view);
  }),

  on({ webhooks, log, newId }) {
    const warnOfShortKeys = (id: string, keys: GivenKeys) => {
      for (const field of KEY_FIELDS) {
        const key = keys[field] ?? '';
        if (key === '' || Buffer.byteLength(key) >= MIN_SIGNING_KEY_BYTES) continue;
        log.warn({ notification: id, field }, `the signing key has fewer than ${MIN_SIGNING_KEY_BYTES} bytes`);
      }
    };

    // An address behind a host name is checked when it is called.
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
      find: (read, id) => read.notification(id),
      list: (read, page) => read.notifications(page),

      async create(body) {
        const { id: asked, url, ...keys } = parseBody(notificationCreateSchema, body);
        const id = asked ?? newId();
        checkAddress(url, false);
        return {
          id,
          async write(writer) {
            await writer.putNotification({ id, type: 'webhook', url, declaration: null });
            return putKeys(writer, id, keys);
          },
          done: () => warnOfShortKeys(id, keys),
        };
      },

      async update(body, _, seen) {
        const { id, url: before, declaration } = await seen();
        const { url: given, ...keys } = parseBody(notificationUpdateSchema, body);
        // A client that reads the notification, changes one field and writes all sends back the masked URL.
        const url = given === maskKeys(before) ? undefined : given;
        if (url !== undefined) checkAddress(url, hasDeclaredAddress({ url, declaration }));
        return {
          async write(writer, notification) {
            await writer.putNotification({ ...notification, url: url ?? notification.url });
            return putKeys(writer, id, keys);
          },
          done: () => warnOfShortKeys(id, keys),
        };
      },

      useOf: ({ id }) => ({ notificationId: id }),
      remove: (writer, { id }) => writer.deleteNotification(id),
    };
  },
});

type GivenKeys = Readonly<Partial<Record<SigningKeyField, string | null | undefined>>>;

const KEY_FIELDS: readonly SigningKeyField[] = ['signing_key', 'second_signing_key'];

/**
 * Stores the given keys. Absent and null leave a key; an empty text removes it.
 * @returns the notification, and the fields that were set or removed
 * @throws AppError `INVALID_REQUEST` for a second key without a first, which the reference's receivers check
 */
async function putKeys(writer: StoreWriter, id: string, keys: GivenKeys): Promise<Written<Notification>> {
  const changed: SigningKeyField[] = [];
  for (const field of KEY_FIELDS) {
    const key = keys[field] ?? undefined;
    if (key === undefined) continue;
    await writer.putSigningKey(id, key === '' ? null : key, field);
    changed.push(field);
  }
  const now = await writer.notification(id);
  if (now === undefined) throw new Error(`There is no notification ${id}`);
  if (now.hasSecondSigningKey && !now.hasSigningKey) {
    throw invalidRequest('second_signing_key: needs a signing_key');
  }
  return { now, secrets: changed };
}
