import { z } from 'zod';
import { successPart } from '../../http/envelope.ts';
import { moment, notificationSchema, partOf } from '../../http/openapi/answers.ts';
import { BODY, created, one, operation, page, raw } from '../../http/operation.ts';
import { pageQuerySchema, partRequest, sealedPartQuerySchema } from '../../http/paging.ts';
import { notificationCreateSchema, notificationUpdateSchema } from './records/notification.ts';
import { webhookEndSchema, webhookEventNameSchema } from './records/webhook-event.ts';

/** An event and the state of its delivery. */
export const deliverySchema = z.strictObject({
  id: z.string().meta({ description: 'Id of the event, as in its body and in `webhook-id`' }),
  notification_id: z.string(),
  relayer_id: z.string().nullable().meta({ description: 'Null if an older version of the service stored the event' }),
  transaction_id: z.string().nullable().meta({ description: 'Null if the event is not about a transaction' }),
  event: webhookEventNameSchema,
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

const tag = 'Notifications';

const deliveryQuery = sealedPartQuerySchema.extend({
  state: z
    .enum(['waiting', 'delivered', 'dead', 'dropped'])
    .optional()
    .meta({ description: 'Only deliveries in this state; a page may then be shorter than `per_page`' }),
  transaction_id: z.string().optional().meta({ description: 'Only deliveries of events of this transaction' }),
});

/** Webhook targets and their deliveries. No answer contains a signing key. */
export const notificationOperations = [
  operation({
    method: 'GET',
    path: '/api/v1/notifications',
    query: pageQuerySchema,
    permission: 'notifications:read',
    id: 'listNotifications',
    tag,
    summary: 'List webhook notifications',
    answer: page('Notifications, newest first', notificationSchema),
    errors: ['INVALID_REQUEST'],
    handle: (call, { services }) => services.notifications.list(call.page),
  }),
  operation({
    method: 'POST',
    path: '/api/v1/notifications',
    permission: 'notifications:write',
    id: 'createNotification',
    tag,
    summary: 'Create a webhook notification',
    description:
      'With a `signing_key` each delivery has two signatures. The header `X-Signature` is base64 of HMAC-SHA256 over ' +
      'the body. The header `webhook-signature` of Standard Webhooks covers `webhook-id`, `webhook-timestamp` and ' +
      'the body. A `url` to which no delivery may ever go, such as a private address, is refused. Responses hide the ' +
      'parts of the `url` that may be a key: user-info, query, and path segments of 8 or more characters.',
    body: {
      schema: notificationCreateSchema,
      example: { id: 'my-webhook', url: 'https://example.com/hook', signing_key: 'at least 32 characters are advised' },
    },
    answer: created('The created notification', notificationSchema),
    errors: [...BODY, 'NOTIFICATION_EXISTS'],
    handle: (call, { services }) => services.notifications.create(call.body, call.caller),
  }),
  operation({
    method: 'GET',
    path: '/api/v1/notifications/:id',
    permission: 'notifications:read',
    id: 'getNotification',
    tag,
    summary: 'Get a webhook notification',
    answer: one('The notification', notificationSchema),
    errors: ['NOTIFICATION_NOT_FOUND'],
    handle: (call, { services }) => services.notifications.get(call.params.id),
  }),
  operation({
    method: 'PATCH',
    path: '/api/v1/notifications/:id',
    permission: 'notifications:write',
    id: 'updateNotification',
    tag,
    summary: 'Update a webhook notification',
    description:
      'A signing key that is absent or null does not change. An empty string removes it; any other string sets it. ' +
      'With a `second_signing_key`, `webhook-signature` has a signature by each key, so that receivers can change ' +
      'from one key to the other. A `url` as responses show it does not change the address. After a change, all ' +
      'events of its relayers go to the new address, also waiting events, and events of relayers that the API key ' +
      'does not see.',
    body: { schema: notificationUpdateSchema, example: { signing_key: '' } },
    answer: one('The notification after the change', notificationSchema),
    errors: [...BODY, 'NOTIFICATION_NOT_FOUND'],
    handle: (call, { services }) => services.notifications.update(call.params.id, call.body, call.caller),
  }),
  operation({
    method: 'DELETE',
    path: '/api/v1/notifications/:id',
    permission: 'notifications:write',
    id: 'deleteNotification',
    tag,
    summary: 'Delete a webhook notification that no relayer uses',
    answer: one('Deleted; its waiting events are dropped', z.string()),
    errors: ['NOTIFICATION_NOT_FOUND', 'NOTIFICATION_IN_USE'],
    async handle(call, { services }) {
      await services.notifications.remove(call.params.id, call.caller);
      return 'Notification deleted successfully';
    },
  }),
  operation({
    method: 'GET',
    path: '/api/v1/notifications/:id/deliveries',
    query: deliveryQuery,
    permission: 'notifications:read',
    id: 'listDeliveries',
    tag,
    summary: 'List deliveries of a notification',
    description:
      'Lists deliveries of the relayers that the API key sees. A page may be shorter than `per_page`; only a ' +
      '`next_cursor` of null is the end of the list.',
    answer: raw('Deliveries, latest first', partOf(deliverySchema)),
    errors: ['INVALID_REQUEST', 'NOTIFICATION_NOT_FOUND'],
    async handle({ params, query, access }, { services, deliveryCursors: cursors }) {
      const { cursor, per_page, state, transaction_id: transactionId } = query;
      const part = partRequest({ per_page, cursor: cursor === undefined ? undefined : cursors.placeOf(cursor) });
      const found = await services.deliveries.list(params.id, part, { state, transactionId }, access);
      return successPart(found, part, cursors.cursorOf);
    },
  }),
  operation({
    method: 'GET',
    path: '/api/v1/notifications/:id/deliveries/:deliveryId',
    permission: 'notifications:read',
    id: 'getDelivery',
    tag,
    summary: 'Get a delivery with its body',
    answer: one('The delivery', wholeDeliverySchema),
    errors: ['NOTIFICATION_NOT_FOUND', 'DELIVERY_NOT_FOUND'],
    handle: ({ params, access }, { services }) => services.deliveries.get(params.id, params.deliveryId, access),
  }),
  operation({
    method: 'POST',
    path: '/api/v1/notifications/:id/deliveries/:deliveryId/redeliver',
    permission: 'notifications:write',
    id: 'redeliver',
    tag,
    summary: 'Redeliver an event',
    description:
      'Delivers the event with the same `id` and body to the present address, signed with the present keys, and ' +
      'retries for a day. An event that is still waiting is tried at once.',
    answer: one('The delivery, now waiting', wholeDeliverySchema),
    errors: ['INVALID_REQUEST', 'NOTIFICATION_NOT_FOUND', 'DELIVERY_NOT_FOUND'],
    handle: ({ params, caller, access }, { services }) =>
      services.deliveries.redeliver(params.id, params.deliveryId, caller, access),
  }),
];
