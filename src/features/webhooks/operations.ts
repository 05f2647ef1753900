import { z } from 'zod';
import { moment } from '../../domain/wire-time.ts';
import { successPart } from '../../http/envelope.ts';
import { partOf } from '../../http/openapi/answers.ts';
import { one, operation, raw } from '../../http/operation.ts';
import { partRequest, sealedPartQuerySchema } from '../../http/paging.ts';
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

/** The deliveries of webhook targets. */
export const deliveryOperations = [
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
