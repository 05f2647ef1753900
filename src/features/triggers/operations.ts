import { z } from 'zod';
import { moment } from '../../domain/wire-time.ts';
import { BODY, type Call, one, operation } from '../../http/operation.ts';
import type { PluginEntry } from '../plugins/records/plugin.ts';
import { parseBody } from '../request-body.ts';

const count = z.int().min(0);

/** A trigger of a plugin, as answers show it. */
export const triggerViewSchema = z.strictObject({
  name: z.string(),
  kind: z.enum(['cron', 'every', 'transaction', 'balance', 'webhook']),
  cron: z.string().nullable(),
  time_zone: z.string().nullable(),
  every: z.string().nullable(),
  state: z
    .enum(['active', 'paused', 'paused-by-throws'])
    .meta({ description: 'paused-by-throws: its last calls all threw. Only `resume` makes it active again' }),
  next_at: moment
    .nullable()
    .meta({ description: 'Time of the next call; null if an event makes it, or if it is paused' }),
  last_call: z.string().nullable().meta({ description: 'Id of the last call; null if there was none' }),
  last_at: moment.nullable().meta({ description: 'Time for which the last call was made' }),
  fired: count.meta({ description: 'Calls made' }),
  skipped: count.meta({
    description: 'Calls left out: the one before was running, `at_most` was reached, or no instance ran at the time',
  }),
});

const tag = 'Plugins';

type OfTrigger = { id: string; name: string };

const fireSchema = z.strictObject({
  event: z.json().optional().describe('What the plugin gets as `context.trigger.event`'),
});

/** The plugin and the name of its trigger in the path. */
function named({ params }: Call<OfTrigger>, pluginHost: { declared(id: string): PluginEntry }) {
  return [pluginHost.declared(params.id), params.name] as const;
}

/** What clients do with triggers. */
export const triggerOperations = [
  operation({
    method: 'POST',
    path: '/api/v1/plugins/:id/triggers/:name/fire',
    permission: 'plugins:write',
    id: 'firePluginTrigger',
    tag,
    summary: 'Fire a trigger of a plugin now',
    description: 'Makes a call, even if the trigger is paused or its last call is running. The call is durable.',
    body: { schema: fireSchema, isOptional: true, example: { event: { status: 'confirmed' } } },
    answer: one('The call that was made', z.strictObject({ call_id: z.string() })),
    errors: [...BODY, 'PLUGIN_NOT_FOUND', 'TRIGGER_NOT_FOUND'],
    async handle(call: Call<OfTrigger>, { services, pluginHost }) {
      const { event } = parseBody(fireSchema, call.request.body ?? {});
      return services.triggers.fire(...named(call, pluginHost), event, call.caller);
    },
  }),
  operation({
    method: 'POST',
    path: '/api/v1/plugins/:id/triggers/:name/pause',
    permission: 'plugins:write',
    id: 'pausePluginTrigger',
    tag,
    summary: 'Pause a trigger of a plugin',
    description: 'It makes no more calls. Running calls finish.',
    answer: one('The trigger', triggerViewSchema),
    errors: ['INVALID_REQUEST', 'PLUGIN_NOT_FOUND', 'TRIGGER_NOT_FOUND'],
    handle: (call: Call<OfTrigger>, { services, pluginHost }) =>
      services.triggers.pause(...named(call, pluginHost), call.caller),
  }),
  operation({
    method: 'POST',
    path: '/api/v1/plugins/:id/triggers/:name/resume',
    permission: 'plugins:write',
    id: 'resumePluginTrigger',
    tag,
    summary: 'Resume a paused trigger of a plugin',
    description:
      'A schedule goes on with its next time. Transactions that ended meanwhile are told, as far as their events are ' +
      'still stored.',
    answer: one('The trigger', triggerViewSchema),
    errors: ['INVALID_REQUEST', 'PLUGIN_NOT_FOUND', 'TRIGGER_NOT_FOUND'],
    handle: (call: Call<OfTrigger>, { services, pluginHost }) =>
      services.triggers.resume(...named(call, pluginHost), call.caller),
  }),
];

/** The largest webhook, in bytes. */
export const MAX_WEBHOOK_BYTES = 65_536;

/** Headers that a plugin does not get: credentials, signatures, and what proxies add. */
const WITHHELD = /^(?:authorization|proxy-.*|cookie|.*signature.*|x-forwarded-.*|forwarded|x-real-ip|idempotency-key)$/;

/** The one path that takes no API key: the signature of a webhook is checked before any code of a plugin. */
export const hookOperations = [
  operation({
    method: 'POST',
    path: '/api/v1/hooks/:id/:name',
    permission: 'public',
    id: 'receiveWebhook',
    tag,
    summary: 'Deliver a webhook to a trigger of a plugin',
    description:
      'Takes no API key, but an HMAC-SHA256 of the raw body under the secret of the trigger: in `webhook-signature` ' +
      '(Standard Webhooks), `Stripe-Signature`, `X-Hub-Signature-256`, or `X-Signature`, with `X-Timestamp` as ' +
      'OpenZeppelin Monitor sends it, or alone. A signed time may be off by 5 minutes. A delivery that is repeated makes ' +
      'no second call.',
    body: { schema: z.unknown(), isOptional: true, example: { alert: 'critical' } },
    answer: {
      ...one(
        'The webhook is stored, and a call is made',
        z.strictObject({ accepted: z.literal(true), repeated: z.boolean() }),
      ),
      status: 202,
    },
    errors: ['WEBHOOK_REFUSED', 'PAYLOAD_TOO_LARGE', 'REQUEST_TIMEOUT', 'TRIGGER_PAUSED'],
    readsHeaders: {
      'webhook-signature': '`v1,` and base64, over `webhook-id`, `.`, `webhook-timestamp`, `.` and the body',
      'stripe-signature': '`t=` and seconds, `,v1=` and hex, over the seconds, `.` and the body',
      'x-hub-signature-256': '`sha256=` and hex, over the body',
      'x-signature': 'Hex over the body and `X-Timestamp`; without that header hex or base64 over the body',
      'x-timestamp': 'Time of signing, in milliseconds since the epoch',
    },
    config: { isHook: true },
    async handle({ request, params }: Call<OfTrigger>, { services }) {
      const { rawHeaders } = request.raw;
      const headers = new Map<string, string | undefined>();
      for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
        const name = (rawHeaders[at] ?? '').toLowerCase();
        // One that was sent twice may have been read otherwise by whoever checked it before.
        headers.set(name, headers.has(name) ? undefined : rawHeaders[at + 1]);
      }
      const shown = [...headers].flatMap(([name, value]) =>
        value === undefined || WITHHELD.test(name) ? [] : [[name, value] as const],
      );
      return services.triggers.receive(params.id, params.name, {
        body: request.body instanceof Uint8Array ? request.body : new Uint8Array(),
        header: (name) => headers.get(name),
        headers: Object.fromEntries(shown),
      });
    },
  }),
];
