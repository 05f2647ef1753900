import { z } from 'zod';
import type { JsonObject } from '../../domain/json/json.ts';
import { eventNameSchema, type WebhookEventName } from '../../domain/webhook-event.ts';
import { moment } from './answers.ts';

/** The meaning of each event. */
const EVENTS: Readonly<Record<WebhookEventName, string>> = {
  transaction_update: 'A status of a transaction after `pending`, a cancellation or a replacement',
  relayer_state_update: 'A relayer was disabled, or enabled again',
  relayer_balance_low: 'The account of a relayer nears the `min_balance` of its policies',
  sign_transaction: 'The JSON-RPC method signTransaction signed',
  sign_and_send_transaction: 'The JSON-RPC method signAndSendTransaction sent',
  transfer_transaction: 'The JSON-RPC method transferTransaction built a transfer',
  solana_dex: 'Tokens that users paid were swapped',
  stellar_dex_queued: 'A swap of what users paid is signed',
  stellar_dex: 'A swap of what users paid has ended',
};

/** The body that is posted to a webhook. */
export const webhookEventSchema = z.object({
  id: z.string().meta({ description: 'Of the event, the same in every delivery of it' }),
  event: eventNameSchema,
  payload: z
    .looseObject({ payload_type: z.string() })
    .meta({ description: 'What it is about, as the answers about it show it, behind its `payload_type`' }),
  timestamp: moment,
});

const HEADERS: Readonly<Record<string, string>> = {
  'X-Signature': 'With a `signing_key`: base64 of HMAC-SHA256 over the body',
  'webhook-id': 'With a `signing_key`, as the two below: the `id` of the event',
  'webhook-timestamp': 'When the delivery left, in seconds since the epoch',
  'webhook-signature':
    '`v1,` and base64 of HMAC-SHA256 over id, `.`, timestamp, `.` and body; by each key, with a space between',
};

/**
 * The webhooks of the description, by event.
 * @param schema a reference to {@link webhookEventSchema}
 */
export function describeWebhooks(schema: JsonObject): JsonObject {
  const parameters = Object.entries(HEADERS).map(([name, description]) => ({
    ...{ name, in: 'header', required: false, description },
    schema: { type: 'string' },
  }));
  return Object.fromEntries(
    Object.entries(EVENTS).map(([event, summary]) => [
      event,
      {
        post: {
          operationId: `on_${event}`,
          tags: ['Notifications'],
          summary,
          security: [],
          parameters,
          requestBody: { required: true, content: { 'application/json': { schema } } },
          responses: { '2XX': { description: 'Taken; after anything else it is delivered again' } },
        },
      },
    ]),
  );
}
