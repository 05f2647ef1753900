import { z } from 'zod';
import type { JsonObject } from '../../domain/json/json.ts';
import { moment } from '../../domain/wire-time.ts';
import { type WebhookEventName, webhookEventNameSchema } from '../../features/webhooks/records/webhook-event.ts';

/** The meaning of each event. */
const EVENTS: Readonly<Record<WebhookEventName, string>> = {
  transaction_update: 'A transaction has a new status after `pending`, or was canceled or replaced',
  relayer_state_update: 'A relayer was disabled, or enabled again',
  relayer_balance_low: 'The balance of a relayer nears the `min_balance` of its policies',
  sign_transaction: 'The JSON-RPC method signTransaction signed a transaction',
  sign_and_send_transaction: 'The JSON-RPC method signAndSendTransaction sent a transaction',
  transfer_transaction: 'The JSON-RPC method transferTransaction built a transfer',
  solana_dex: 'A swap of tokens that users paid has ended',
  stellar_dex_queued: 'A swap of an asset that users paid is signed',
  stellar_dex: 'A swap of an asset that users paid has ended',
  plugin_trigger_paused: 'The last calls of a trigger of a plugin all threw, so it is paused',
};

/** The body that is posted to a webhook. */
export const webhookEventSchema = z.object({
  id: z.string().meta({ description: 'Id of the event, the same in every delivery of the event' }),
  event: webhookEventNameSchema,
  payload: z
    .looseObject({ payload_type: z.string() })
    .meta({ description: 'Data of the event, in the form of API responses; the fields depend on `payload_type`' }),
  timestamp: moment,
});

const HEADERS: Readonly<Record<string, string>> = {
  'X-Signature': 'Base64 of HMAC-SHA256 over the body; only with a `signing_key`',
  'webhook-id': 'The `id` of the event; only with a `signing_key`',
  'webhook-timestamp': 'Time of sending, in seconds since the epoch; only with a `signing_key`',
  'webhook-signature':
    '`v1,` and base64 of HMAC-SHA256 over id, `.`, timestamp, `.` and body, one for each signing key, separated by ' +
    'spaces; only with a `signing_key`',
};

/**
 * The webhooks of the description, by event.
 * @param schema a reference to {@link webhookEventSchema}
 */
export function describeWebhooks(schema: JsonObject): JsonObject {
  const parameters = Object.entries(HEADERS).map(([name, description]) => ({
    name,
    in: 'header',
    required: false,
    description,
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
          responses: { '2XX': { description: 'Accepted; after any other response the event is delivered again' } },
        },
      },
    ]),
  );
}
