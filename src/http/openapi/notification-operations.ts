import { z } from 'zod';
import { notificationCreateSchema, notificationUpdateSchema } from '../../domain/settings/notification.ts';
import { eventNameSchema, webhookEndSchema } from '../../domain/webhook-event.ts';
import { envelope, moment, notificationSchema, pageOf, partOf } from './answers.ts';
import { BODY, found, type Operation } from './operation.ts';

/** An event and the state of its delivery. */
export const deliverySchema = z.strictObject({
  id: z.string().meta({ description: 'Of the event, as its body and `webhook-id` have it' }),
  notification_id: z.string(),
  relayer_id: z.string().nullable().meta({ description: 'Null for events of a version that did not note it' }),
  transaction_id: z.string().nullable().meta({ description: 'Null for an event that is not of a transaction' }),
  event: eventNameSchema,
  state: z.enum(['waiting', ...webhookEndSchema.options]),
  tries: z.int().meta({ description: 'Deliveries begun so far' }),
  outcome: z.string().nullable().meta({ description: 'Of the latest of these, without the address' }),
  created_at: moment,
  next_try_at: moment.nullable().meta({ description: 'Null once it has ended' }),
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
    answer: found('Newest first', pageOf(notificationSchema)),
    errors: ['INVALID_REQUEST'],
  },
  'POST /api/v1/notifications': {
    id: 'createNotification',
    tag: 'Notifications',
    summary: 'Create a webhook notification',
    description:
      'With a `signing_key` each delivery has the header `X-Signature`: base64 of HMAC-SHA256 over the body; and those ' +
      'of Standard Webhooks, `webhook-signature` over `webhook-id`, `webhook-timestamp` and the body. ' +
      'An address that no delivery may ever go to, such as a private one, is refused, and answers hide what of it may ' +
      'be a key: user-info, query, and pieces of the path of 8 characters and more.',
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
    summary: 'One webhook notification',
    answer: found('The notification', envelope(notificationSchema)),
    errors: ['NOTIFICATION_NOT_FOUND'],
  },
  'PATCH /api/v1/notifications/:id': {
    id: 'updateNotification',
    tag: 'Notifications',
    summary: 'Update a webhook notification',
    description:
      'Absent or null leaves a key, an empty string removes it, any other sets it. While there is a ' +
      '`second_signing_key`, `webhook-signature` has a signature by each, so that receivers can change from one to the ' +
      'other. ' +
      'The `url` as answers show it leaves it as it is; another one is where all that its relayers tell goes from now on, ' +
      'what waits included, also of relayers that the key does not see.',
    body: { schema: notificationUpdateSchema, required: true, example: { signing_key: '' } },
    answer: found('The notification after the change', envelope(notificationSchema)),
    errors: [...BODY, 'NOTIFICATION_NOT_FOUND'],
  },
  'DELETE /api/v1/notifications/:id': {
    id: 'deleteNotification',
    tag: 'Notifications',
    summary: 'Delete a webhook notification that no relayer refers to',
    answer: found('Deleted; events that wait for it are dropped', envelope(z.string())),
    errors: ['NOTIFICATION_NOT_FOUND', 'NOTIFICATION_IN_USE'],
  },
  'GET /api/v1/notifications/:id/deliveries': {
    id: 'listDeliveries',
    tag: 'Notifications',
    summary: 'List what became of the events of a notification',
    description:
      'Of the relayers that the key sees. A part may be shorter than asked for: go on while there is a cursor.',
    answer: found('The latest first', partOf(deliverySchema)),
    errors: ['INVALID_REQUEST', 'NOTIFICATION_NOT_FOUND'],
  },
  'GET /api/v1/notifications/:id/deliveries/:deliveryId': {
    id: 'getDelivery',
    tag: 'Notifications',
    summary: 'One event, with what is delivered',
    answer: found('The delivery', envelope(wholeDeliverySchema)),
    errors: ['NOTIFICATION_NOT_FOUND', 'DELIVERY_NOT_FOUND'],
  },
  'POST /api/v1/notifications/:id/deliveries/:deliveryId/redeliver': {
    id: 'redeliver',
    tag: 'Notifications',
    summary: 'Deliver an event once more',
    description:
      'The same `id` and body, to the address and with the keys of now, and tried for a day anew. ' +
      'Also for one that waits: it is tried at once.',
    answer: found('The delivery, which waits', envelope(wholeDeliverySchema)),
    errors: ['INVALID_REQUEST', 'NOTIFICATION_NOT_FOUND', 'DELIVERY_NOT_FOUND'],
  },
};
