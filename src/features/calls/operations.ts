import { z } from 'zod';
import { moment } from '../../domain/wire-time.ts';
import { BODY, one, operation, page } from '../../http/operation.ts';
import { pageQuerySchema } from '../../http/paging.ts';
import { lifetimeOf } from '../plugins/records/plugin.ts';
import { parseBody } from '../request-body.ts';
import { callStateSchema, eventNameSchema } from './record.ts';

/** A durable call. */
export const callSchema = z.strictObject({
  id: z.string(),
  plugin_id: z.string(),
  key: z.string().meta({ description: 'The `Idempotency-Key` of the call, or the id of the call' }),
  key_id: z.string().meta({ description: 'Id of the API key that called, or `trigger:<plugin>/<trigger>`' }),
  state: callStateSchema.meta({
    description: '`running`: it runs or is about to; `waiting`: it waits and holds no memory; the others are ends',
  }),
  waits_for: z.array(
    z.strictObject({
      kind: z.enum(['time', 'event', 'transaction', 'plugin']),
      name: z.string().nullable().meta({ description: 'Name of the event, or why the plugin cannot run' }),
      transaction_id: z.string().nullable(),
      until: moment,
    }),
  ),
  tries: z.int().meta({ description: 'Runs begun so far' }),
  version: z.string().nullable().meta({ description: 'Version that runs it; null before its first run' }),
  trigger: z.strictObject({ name: z.string(), at: moment }).nullable(),
  created_at: moment,
  expires_at: moment,
  ended_at: moment.nullable(),
  answer: z.json().meta({ description: 'What the handler returned; null unless the state is `returned`' }),
  error: z
    .strictObject({ code: z.string(), message: z.string(), status: z.int(), details: z.json() })
    .nullable()
    .meta({ description: 'Why the call did not return' }),
});

/** What a call heard. */
export const callRecordSchema = z.strictObject({
  format: z.literal(1),
  plugin: z.string(),
  version: z.string(),
  seed: z.string().meta({ description: 'Of the chance of the call' }),
  now: z.int().meta({ description: 'Time at which the handler began, in milliseconds since the epoch' }),
  context: z.json(),
  deliveries: z.array(
    z.strictObject({
      request: z.int().meta({ description: 'Number of the capability call that was answered' }),
      method: z.string(),
      payload: z.json().optional().meta({ description: 'Absent if it is long' }),
      hash: z.string().optional().meta({ description: 'Absent if the payload has a secret' }),
      at: z.int(),
      answer: z.strictObject({ ok: z.boolean(), value: z.json().optional(), error: z.json().optional() }),
    }),
  ),
  outcome: z.json(),
});

const eventBodySchema = z.strictObject({ value: z.json().describe('What `api.waitFor` resolves with') });

const ofCall = z.object({ id: z.string(), call: z.string() });
const tag = 'Plugins';

/** The durable calls of plugins. */
export const callOperations = [
  operation({
    method: 'GET',
    path: '/api/v1/plugins/:id/calls',
    query: pageQuerySchema.extend({
      state: callStateSchema.optional().meta({ description: 'Only calls in this state' }),
    }),
    permission: 'plugins:calls',
    id: 'listPluginCalls',
    tag,
    summary: 'List the durable calls of a plugin',
    description: 'Ended calls are kept for `CALL_EXPIRATION_DAYS`.',
    answer: page('Calls, latest first', callSchema),
    errors: ['INVALID_REQUEST', 'PLUGIN_NOT_FOUND'],
    async handle(call, { services, pluginHost }) {
      const { id } = pluginHost.declared((call.params as { id: string }).id);
      return await services.calls.list(id, call.page, { state: call.query.state });
    },
  }),
  operation({
    method: 'GET',
    path: '/api/v1/plugins/:id/calls/:call',
    params: ofCall,
    permission: 'plugins:calls',
    id: 'getPluginCall',
    tag,
    summary: 'Get a durable call with its answer',
    answer: one('The call', callSchema),
    errors: ['PLUGIN_NOT_FOUND', 'CALL_NOT_FOUND'],
    handle: ({ params: { id, call } }, { services }) => services.calls.get(id, call),
  }),
  operation({
    method: 'GET',
    path: '/api/v1/plugins/:id/calls/:call/record',
    params: ofCall,
    permission: 'plugins:calls',
    id: 'getPluginCallRecord',
    tag,
    summary: 'Get what a durable call heard, for a replay',
    description: 'The input of `isolayer plugin replay`. Values of environment entries of the plugin are redacted.',
    answer: one('The record', callRecordSchema),
    errors: ['INVALID_REQUEST', 'PLUGIN_NOT_FOUND', 'CALL_NOT_FOUND'],
    handle: ({ params: { id, call } }, { services }) => services.calls.record(id, call),
  }),
  operation({
    method: 'POST',
    path: '/api/v1/plugins/:id/calls/:call/cancel',
    params: ofCall,
    permission: 'plugins:calls',
    id: 'cancelPluginCall',
    tag,
    summary: 'Cancel a durable call',
    description: 'The call has no effect any more. What it did stays done.',
    answer: one('The call', callSchema),
    errors: ['INVALID_REQUEST', 'PLUGIN_NOT_FOUND', 'CALL_NOT_FOUND'],
    handle: ({ params: { id, call }, caller }, { services }) => services.calls.cancel(id, call, caller),
  }),
  operation({
    method: 'POST',
    path: '/api/v1/plugins/:id/calls/:call/retry',
    params: ofCall,
    permission: 'plugins:calls',
    id: 'retryPluginCall',
    tag,
    summary: 'Run a durable call again that did not return',
    description:
      'The call runs again on its version. It hears again what it heard until its last effect, and goes on from there. ' +
      'Its lifetime begins anew.',
    answer: one('The call', callSchema),
    errors: ['INVALID_REQUEST', 'PLUGIN_NOT_FOUND', 'CALL_NOT_FOUND'],
    handle: ({ params: { id, call }, caller }, { services, pluginHost }) =>
      services.calls.retry(id, call, lifetimeOf(pluginHost.declared(id)), caller),
  }),
  operation({
    method: 'POST',
    path: '/api/v1/plugins/:id/calls/:call/events/:name',
    params: ofCall.extend({ name: eventNameSchema }),
    permission: 'plugins:calls',
    id: 'sendPluginCallEvent',
    tag,
    summary: 'Send a value to a durable call',
    description:
      '`api.waitFor(name)` of the call resolves with the value. A value that the call does not wait for yet is kept. ' +
      'Of values with one name, each is heard once, in the order in which they were sent.',
    body: { schema: eventBodySchema, example: { value: { approved: true } } },
    answer: one('The call', callSchema),
    errors: [...BODY, 'PLUGIN_NOT_FOUND', 'CALL_NOT_FOUND'],
    handle({ params: { id, call, name }, body, caller }, { services }) {
      const { value } = parseBody(eventBodySchema, body);
      return services.calls.send(id, call, { name, value }, caller);
    },
  }),
];
