import { z } from 'zod';
import { notificationCreateSchema, notificationUpdateSchema } from '../../domain/settings/notification.ts';
import { eventNameSchema, webhookEndSchema } from '../../domain/webhook-event.ts';
import { envelope, moment, notificationSchema, pageOf, partOf } from './answers.ts';
import { BODY, found, type Operation } from './operation.ts';

/** An event and the state of its delivery. */
export const deliverySchema = z.strictObject({
  id: z.string().meta({ description: 'Id of the event, as in its body and in `webhook-id`' }),
  notification_id: z.string(),
  relayer_id: z.string().nullable().meta({ description: 'Null if an older version of the service stored the event' }),
  transaction_id: z.string().nullable().meta({ description: 'Null if the event is not about a transaction' }),
  event: eventNameSchema,
  state: z.enum(['waiting', ...webhookEndSchema.options]),
  tries: z.int().meta({ description: 'Number of delivery attempts so far' }),
  outcome: z.string().nullable().meta({
    description: 'Outcome of the latest attempt, without the address of the webhook; null if there is none',
  }),
  created_at: moment,
  next_try_at: moment.nullable().meta({ description: 'Time of the next attempt; null once the delivery has ended' }),
  ended_at: moment.nullable(),
});

/** A delivery and the body that is sent. */
export const wholeDeliverySchema = deliverySchema.extend({
  body: z.string().meta({ description: 'The exact text that is signed and sent' }),
});

/** The operations on webhook targets and their deliveries. */
export const notificationOperations: Readonly<Record<string, Operation>> = {
  'GET /api/v1/notifications': {
    id: 'listNotifications',
    tag: 'Notifications',
    summary: 'List webhook notifications',
    answer: found('Notifications, newest first', pageOf(notificationSchema)),
    errors: ['INVALID_REQUEST'],
  },
  'POST /api/v1/notifications': {
    id: 'createNotification',
    tag: 'Notifications',
    summary: 'Create a webhook notification',
    description:
      'With a `signing_key` each delivery has two signatures. The header `X-Signature` is base64 of HMAC-SHA256 over ' +
      'the body. The header `webhook-signature` of Standard Webhooks covers `webhook-id`, `webhook-timestamp` and ' +
      'the body. A `url` to which no delivery may ever go, such as a private address, is refused. Responses hide the ' +
      'parts of the `url` that may be a key: user-info, query, and path segments of 8 or more characters.',
    body: {
      schema: notificationCreateSchema,
      required: true,
      example: { id: 'my-webhook', url: 'https://example.com/hook', signing_key: 'at least 32 characters are advised' },
    },
    answer: { status: 201, description: 'The created notification', schema: envelope(notificationSchema) },
    errors: [...BODY, 'NOTIFICATION_EXISTS'],
  },
  'GET /api/v1/notifications/:id': {
    id: 'getNotification',
    tag: 'Notifications',
    summary: 'Get a webhook notification',
    answer: found('The notification', envelope(notificationSchema)),
    errors: ['NOTIFICATION_NOT_FOUND'],
  },
  'PATCH /api/v1/notifications/:id': {
    id: 'updateNotification',
    tag: 'Notifications',
    summary: 'Update a webhook notification',
    description:
      'A signing key that is absent or null does not change. An empty string removes it; any other string sets it. ' +
      'With a `second_signing_key`, `webhook-signature` has a signature by each key, so that receivers can change ' +
      'from one key to the other. A `url` as responses show it does not change the address. After a change, all ' +
      'events of its relayers go to the new address, also waiting events, and events of relayers that the API key ' +
      'does not see.',
    body: { schema: notificationUpdateSchema, required: true, example: { signing_key: '' } },
    answer: found('The notification after the change', envelope(notificationSchema)),
    errors: [...BODY, 'NOTIFICATION_NOT_FOUND'],
  },
  'DELETE /api/v1/notifications/:id': {
    id: 'deleteNotification',
    tag: 'Notifications',
    summary: 'Delete a webhook notification that no relayer uses',
    answer: found('Deleted; its waiting events are dropped', envelope(z.string())),
    errors: ['NOTIFICATION_NOT_FOUND', 'NOTIFICATION_IN_USE'],
  },
  'GET /api/v1/notifications/:id/deliveries': {
    id: 'listDeliveries',
    tag: 'Notifications',
    summary: 'List deliveries of a notification',
    description:
      'Lists deliveries of the relayers that the API key sees. A page may be shorter than `per_page`; only a ' +
      '`next_cursor` of null is the end of the list.',
    answer: found('Deliveries, latest first', partOf(deliverySchema)),
    errors: ['INVALID_REQUEST', 'NOTIFICATION_NOT_FOUND'],
  },
  'GET /api/v1/notifications/:id/deliveries/:deliveryId': {
    id: 'getDelivery',
    tag: 'Notifications',
    summary: 'Get a delivery with its body',
    answer: found('The delivery', envelope(wholeDeliverySchema)),
    errors: ['NOTIFICATION_NOT_FOUND', 'DELIVERY_NOT_FOUND'],
  },
  'POST /api/v1/notifications/:id/deliveries/:deliveryId/redeliver': {
    id: 'redeliver',
    tag: 'Notifications',
    summary: 'Redeliver an event',
    description:
      'Delivers the event with the same `id` and body to the present address, signed with the present keys, and ' +
      'retries for a day. An event that is still waiting is tried at once.',
    answer: found('The delivery, now waiting', envelope(wholeDeliverySchema)),
    errors: ['INVALID_REQUEST', 'NOTIFICATION_NOT_FOUND', 'DELIVERY_NOT_FOUND'],
  },
};
