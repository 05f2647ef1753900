import type { ServerResponse } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { CallerSignal } from '../../../sandbox/contract.ts';
import type { Json } from '../../domain/json/json.ts';
import { JsonTextError, parseJson } from '../../domain/json/json-text.ts';
import { moment } from '../../domain/wire-time.ts';
import { seenPlugin } from '../../http/access/seen-plugin.ts';
import { fingerprintOf, idempotencyKeyOf } from '../../http/idempotency-hook.ts';
import { pluginFailureSchema, pluginResultSchema } from '../../http/openapi/answers.ts';
import { type ApiParts, BODY, type Call, type Operation, one, operation, page, raw } from '../../http/operation.ts';
import { pageQuerySchema } from '../../http/paging.ts';
import { triggerViewSchema } from '../triggers/operations.ts';
import type { PluginRequest } from './host/plugin-host.ts';
import { limitsSchema, relayerGrantSchema } from './records/plugin.ts';
import { pluginUpdateSchema } from './records/plugin-settings.ts';

const count = z.int().min(0);
const amount = z.string().meta({ description: 'Amount in the smallest unit, as decimal digits' });
const missing = z.string().nullable().meta({ description: 'How to grant it in the configuration; null if granted' });

const permissionSchema = z.strictObject({
  methods: z.array(relayerGrantSchema),
  recipients: z.array(z.string()).optional(),
  selectors: z.array(z.string()).optional(),
  value_per_call: amount.optional(),
  value_per_hour: amount.optional(),
  fee_per_hour: amount.optional(),
  last_hour: z
    .strictObject({ value: amount, fee: amount })
    .optional()
    .meta({ description: 'Amounts that count against the hourly limits now; absent without hourly limits' }),
});

const limits = z.strictObject({
  ...Object.fromEntries(Object.keys(limitsSchema.shape).map((limit) => [limit, count])),
  lifetime: z.string().meta({ description: 'Longest time of a durable call' }),
});

/** A plugin: its entry, state and usage. */
export const pluginSchema = z.strictObject({
  id: z.string(),
  path: z.string(),
  timeout: count.meta({ description: 'Wall-clock limit of a call, in seconds' }),
  emit_logs: z.boolean(),
  emit_traces: z.boolean(),
  emit_usage: z.boolean(),
  raw_response: z.boolean(),
  allow_get_invocation: z.boolean(),
  forward_logs: z.boolean(),
  config: z.record(z.string(), z.string()).nullable().meta({
    description: 'Configuration of the plugin, with its values hidden; null if there is none',
  }),
  isolation: z.enum(['plugin', 'call']),
  durable: z.boolean().meta({ description: 'Whether accepted calls run to their end, whatever dies meanwhile' }),
  enabled: z.boolean().meta({ description: 'Whether the plugin accepts calls' }),
  state: z.enum(['serving', 'broken', 'compiling', 'backing-off']),
  version: z
    .strictObject({ hash: z.string(), since: moment })
    .nullable()
    .meta({ description: 'Version that calls run; null if no version has ever compiled' }),
  error: z
    .strictObject({
      code: z.string(),
      message: z.string(),
      file: z.string().nullable(),
      line: z.int().nullable(),
      column: z.int().nullable(),
      since: moment.nullable(),
    })
    .nullable()
    .meta({ description: 'Why the newest version does not run; null if it runs' }),
  back_off: z.strictObject({ reason: z.string(), until: moment }).nullable(),
  reads: z
    .strictObject({
      environment: z.array(z.strictObject({ name: z.string(), granted: z.boolean(), missing })),
      fetches: z.boolean(),
      hosts: z.array(z.strictObject({ host: z.string(), granted: z.boolean(), missing })),
      more: z.boolean().meta({ description: 'Whether the code names more entries or hosts than are listed' }),
    })
    .nullable()
    .meta({ description: 'Environment entries and hosts that the code uses; null if no version has ever compiled' }),
  permissions: z.strictObject({
    relayers: z.record(z.string(), permissionSchema).meta({
      description: 'By id of the relayer, for relayers that the API key sees; * stands for every relayer',
    }),
    hosts: z.array(
      z.strictObject({
        host: z.string(),
        private: z.boolean(),
        methods: z.array(z.string()).optional(),
        max_bytes: count,
        timeout_ms: count,
      }),
    ),
    env: z.array(z.string()),
    kv: z.boolean(),
  }),
  triggers: z.array(triggerViewSchema).meta({ description: 'Times and events at which the service calls the plugin' }),
  limits,
  kv_usage: z.strictObject({ keys: count, bytes: count }),
  now: z.strictObject({
    processes: count,
    isolates: count,
    resident_bytes: count,
    calls_running: count,
    calls_queued: count,
  }),
  last_hour: z.strictObject({
    since: moment.meta({ description: 'Start of the counted period; a restart begins a new one' }),
    calls: count,
    outcomes: z.record(z.string(), count),
    cpu_ms: z.number().min(0),
    heap_peak_bytes: count,
    capability_calls: count,
    bytes_in: count,
    bytes_out: count,
  }),
});

/** One call and its logs. */
export const loggedCallSchema = z.strictObject({
  request_id: z.string(),
  key_id: z.string().meta({ description: 'Id of the API key that called the plugin' }),
  at: moment.meta({ description: 'Time at which the call ended (RFC 3339)' }),
  outcome: z.string().meta({ description: '`returned`, `threw`, or the error code that ended the call' }),
  duration_ms: count,
  logs: z.array(z.strictObject({ level: z.enum(['log', 'debug', 'info', 'warn', 'error']), message: z.string() })),
});

const tag = 'Plugins';

/** The plugin without what the caller's key does not see. */
async function shown(id: string, { access }: Call, { pluginHost }: Pick<ApiParts, 'pluginHost'>) {
  return seenPlugin(await pluginHost.get(id), access);
}

/** Plugins and their state, and the settings that clients may change. */
export const pluginOperations = [
  operation({
    method: 'GET',
    path: '/api/v1/plugins',
    query: pageQuerySchema,
    permission: 'plugins:read',
    isList: true,
    id: 'listPlugins',
    tag,
    summary: 'List plugins',
    answer: page('Plugins, sorted by id', pluginSchema),
    errors: ['INVALID_REQUEST'],
    async handle({ page, access }, { pluginHost }) {
      const { items, total } = await pluginHost.list(page, access.idsOf('plugins'));
      return { items: items.map((view) => seenPlugin(view, access)), total };
    },
  }),
  operation({
    method: 'GET',
    path: '/api/v1/plugins/:id',
    permission: 'plugins:read',
    id: 'getPlugin',
    tag,
    summary: 'Get a plugin with its version, limits, permissions and usage',
    answer: one('The plugin', pluginSchema),
    errors: ['PLUGIN_NOT_FOUND'],
    handle: (call, parts) => shown(call.params.id, call, parts),
  }),
  operation({
    method: 'PATCH',
    path: '/api/v1/plugins/:id',
    permission: 'plugins:write',
    id: 'updatePlugin',
    tag,
    summary: 'Update a plugin',
    description:
      'Absent and null fields do not change, but a `config` of null clears the configuration of the plugin. Running ' +
      'calls keep the earlier settings. The permissions and limits of a plugin can be changed only by the operator.',
    body: { schema: pluginUpdateSchema, example: { timeout: 30, emit_logs: true } },
    answer: one('The plugin after the change', pluginSchema),
    errors: [...BODY, 'PLUGIN_NOT_FOUND'],
    async handle(call, parts) {
      const { id } = call.params;
      await parts.services.plugins.update(parts.pluginHost.declared(id), call.body, call.caller);
      return shown(id, call, parts);
    },
  }),
  operation({
    method: 'POST',
    path: '/api/v1/plugins/:id/enable',
    permission: 'plugins:write',
    id: 'enablePlugin',
    tag,
    summary: 'Enable a plugin',
    answer: one('The plugin', pluginSchema),
    errors: ['INVALID_REQUEST', 'PLUGIN_NOT_FOUND'],
    async handle(call, parts) {
      const { id } = call.params;
      await parts.services.plugins.enable(parts.pluginHost.declared(id), true, call.caller);
      return shown(id, call, parts);
    },
  }),
  operation({
    method: 'POST',
    path: '/api/v1/plugins/:id/disable',
    permission: 'plugins:write',
    id: 'disablePlugin',
    tag,
    summary: 'Disable a plugin',
    description: 'New calls are refused. Running calls finish.',
    answer: one('The plugin', pluginSchema),
    errors: ['INVALID_REQUEST', 'PLUGIN_NOT_FOUND'],
    async handle(call, parts) {
      const { id } = call.params;
      await parts.services.plugins.enable(parts.pluginHost.declared(id), false, call.caller);
      return shown(id, call, parts);
    },
  }),
  operation({
    method: 'POST',
    path: '/api/v1/plugins/:id/reload',
    permission: 'plugins:write',
    id: 'reloadPlugin',
    tag,
    summary: 'Rebuild a plugin',
    description:
      'Builds the plugin on the instance that gets the request, even if its files have not changed, and ends a ' +
      'back-off. If the new version does not compile, the previous version stays in use.',
    answer: one('The plugin', pluginSchema),
    errors: ['INVALID_REQUEST', 'PLUGIN_NOT_FOUND'],
    async handle(call, parts) {
      await parts.pluginHost.reload(call.params.id);
      return shown(call.params.id, call, parts);
    },
  }),
  operation({
    method: 'GET',
    path: '/api/v1/plugins/:id/logs',
    query: pageQuerySchema,
    permission: 'plugins:write',
    id: 'listPluginLogs',
    tag,
    summary: 'List the logs of the last calls of a plugin',
    description:
      'Lists the last 100 calls on the instance that gets the request, even if their responses had no logs. Calls ' +
      'that succeeded and wrote nothing are left out.',
    answer: page('Calls with their logs, latest first', loggedCallSchema),
    errors: ['INVALID_REQUEST', 'PLUGIN_NOT_FOUND'],
    handle: (call, { pluginHost }) => pluginHost.logs(call.params.id, call.page),
  }),
];

/** An operation that calls a plugin. The plugin host makes the answer's text. */
function pluginCall(
  method: 'GET' | 'POST',
  path: `${string}/:id/${string}`,
  { id, summary }: { id: string; summary: string },
  isAlias: boolean,
) {
  return operation({
    method,
    path,
    id,
    tag,
    summary,
    isAlias,
    permission: 'plugins:call',
    description:
      'The handler gets the route as `context.route`, and the parameters as `params`. The parameters are the query ' +
      'parameter `params` if given, else the key `params` of the body, else the whole body. A body is read as JSON, ' +
      'whatever its content type. An error that the handler throws may have any status from 200 to 599 that can have ' +
      'a body, so look at `success` rather than at the status.',
    readsQuery: {
      route: 'Route, for instance `/name`; ignored if the path has a route',
      params: 'Parameters, as JSON; a value that is not JSON is passed as text',
    },
    answer: raw('Return value of the handler', pluginResultSchema),
    errors: [
      'INVALID_REQUEST',
      'PLUGIN_NOT_FOUND',
      'PAYLOAD_TOO_LARGE',
      'REQUEST_TIMEOUT',
      'PLUGIN_DISABLED',
      'EFFECT_MISMATCH',
      'EFFECT_UNKNOWN',
      'JOURNAL_FULL',
      'LOCK_HELD_ELSEWHERE',
      ...(method === 'GET' ? (['PLUGIN_GET_DISABLED'] as const) : []),
    ],
    anyFailure: {
      description: 'The handler threw an error with this status',
      schema: pluginFailureSchema,
      name: 'PluginFailure',
    },
    otherFailures: {
      500: {
        description: 'The handler threw an error without a status, or exceeded a limit',
        schema: pluginFailureSchema,
        name: 'PluginFailure',
      },
      503: {
        description: 'No process is free, or the plugin is in back-off',
        schema: pluginFailureSchema,
        name: 'PluginFailure',
      },
      504: {
        description: 'The call exceeded its time limit',
        schema: pluginFailureSchema,
        name: 'PluginFailure',
      },
    },
    ...(method === 'POST' && { body: { schema: z.unknown(), isOptional: true, example: { params: { name: 'Ada' } } } }),
    config: { ownDeadline: true, runsPlugin: true },
    async handle({ request, reply }, { pluginHost, metrics }) {
      const { id: pluginId, '*': tail = '' } = request.params as { id: string; '*'?: string };
      const signal = disconnectSignal(reply.raw);
      const asked = pluginRequestOf(request, method, tail);
      const isDurable = pluginHost.isDurable(pluginId);
      const answer = await pluginHost.call(pluginId, isDurable ? durably(asked, request) : asked, signal);
      metrics.count('plugin_calls', { plugin_id: pluginId, method, status: answer.status });
      if (answer.retryAfter !== undefined) reply.header('retry-after', answer.retryAfter);
      if (answer.location !== undefined) reply.header('location', answer.location);
      reply.code(answer.status).type('application/json; charset=utf-8');
      // Not the reply itself: whoever awaits that listens to the stream until the last byte has left.
      return answer.body;
    },
  });
}

function pluginCallsBelow(prefix: '/api/v1' | ''): Operation[] {
  const isAlias = prefix === '';
  const call = (method: 'GET' | 'POST', tail: '' | '/*', id: string, summary: string) =>
    pluginCall(
      method,
      `${prefix}/plugins/:id/call${tail}`,
      { id: isAlias ? `${id}WithoutPrefix` : id, summary },
      isAlias,
    );
  return [
    call('GET', '', 'callPluginGet', 'Call a plugin with GET, if its configuration allows it'),
    call('GET', '/*', 'callPluginRouteGet', 'Call a plugin with GET and a route in the path'),
    call('POST', '', 'callPlugin', 'Call a plugin'),
    call('POST', '/*', 'callPluginRoute', 'Call a plugin with a route in the path'),
  ];
}

/** Calls of plugins, each with and without the prefix. The plugin's route is in the path or in the query. */
export const pluginCallOperations = [...pluginCallsBelow('/api/v1'), ...pluginCallsBelow('')];

/** The longest that a client may ask to wait, in seconds. */
const MAX_WAIT_S = 300;

/** The same request as a durable call, with its name and with how long its caller waits (RFC 7240). */
function durably(asked: PluginRequest, request: FastifyRequest): PluginRequest {
  const isNamed = request.headers['idempotency-key'] !== undefined;
  const key = isNamed ? { key: idempotencyKeyOf(request.raw.rawHeaders) } : {};
  const prefer = String(request.headers['prefer'] ?? '');
  const wait = /(?:^|[\s,;])wait\s*=\s*"?(\d{1,6})/i.exec(prefer)?.[1];
  const isAsync = /(?:^|[\s,;])respond-async(?:$|[\s,;])/i.test(prefer);
  const waitMs = wait === undefined ? (isAsync ? 0 : undefined) : Math.min(Number(wait), MAX_WAIT_S) * 1000;
  return { ...asked, ...key, fingerprint: fingerprintOf(request), ...(waitMs !== undefined && { waitMs }) };
}

/** Makes the request that a plugin's handler gets. `tail` is the path after `/call`. */
export function pluginRequestOf(request: FastifyRequest, method: 'GET' | 'POST', tail: string): PluginRequest {
  const query = queryOf(request.url);
  return {
    method,
    route: tail === '' ? (query['route']?.[0] ?? '') : `/${tail}`,
    params: paramsOf(query, method === 'GET' ? undefined : request.body),
    headers: headersOf(request.raw.rawHeaders),
    query,
    keyId: request.keyId,
    requestId: request.id,
    ...(request.keyedRun !== null && { claim: request.keyedRun.claim }),
  };
}

/**
 * Returns the params of a call, from the first source that exists: the query's `params`, as JSON or else as text; the
 * body's key `params`, which the reference's clients send; the whole body; `{}`.
 */
function paramsOf(query: Record<string, string[]>, body: unknown): Json {
  const given = query['params']?.[0];
  if (given !== undefined) return jsonOrText(given);
  if (body === undefined) return {};
  if (typeof body === 'object' && body !== null && Object.hasOwn(body, 'params')) {
    return (body as { params: Json }).params;
  }
  return body as Json;
}

function jsonOrText(text: string): Json {
  try {
    return parseJson(text, 'plain') as Json;
  } catch (error) {
    if (error instanceof JsonTextError) return text;
    throw error;
  }
}

/**
 * Headers that a plugin does not get: the caller's credentials, and the key under which the service repeats the call.
 */
const WITHHELD: ReadonlySet<string> = new Set(['authorization', 'proxy-authorization', 'idempotency-key']);

/** Lower-case names, one entry per line, in order. */
function headersOf(rawHeaders: readonly string[]): Record<string, string[]> {
  const groups: Record<string, string[]> = {};
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] ?? '').toLowerCase();
    if (!WITHHELD.has(name)) add(groups, name, rawHeaders[at + 1] ?? '');
  }
  return groups;
}

/**
 * Parses a query as forms are encoded: `+` is a space, a bare name has an empty value, repeated names keep their order.
 */
function queryOf(url: string): Record<string, string[]> {
  const groups: Record<string, string[]> = {};
  const at = url.indexOf('?');
  if (at === -1) return groups;
  for (const [name, value] of new URLSearchParams(url.slice(at + 1))) add(groups, name, value);
  return groups;
}

/**
 * Adds a value to a name. `__proto__` is an ordinary name here. An object without a prototype would cost three times as
 * much.
 */
function add(groups: Record<string, string[]>, name: string, value: string): void {
  if (Object.hasOwn(groups, name)) groups[name]?.push(value);
  else if (name === '__proto__') Object.defineProperty(groups, name, { value: [value], enumerable: true });
  else groups[name] = [value];
}

/** Aborts when the client leaves before its answer is complete. */
export function disconnectSignal(response: ServerResponse): CallerSignal {
  const signal = new DisconnectSignal();
  response.on('close', () => {
    if (!response.writableFinished) signal.abort();
  });
  return signal;
}

/**
 * Stands in for an AbortSignal. One is made for each plugin call, and an AbortController costs more than everything
 * else that is recorded of the call.
 */
class DisconnectSignal implements CallerSignal {
  aborted = false;
  #listeners: (() => void)[] = [];

  addEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners.push(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners = this.#listeners.filter((one) => one !== listener);
  }

  abort(): void {
    this.aborted = true;
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const listener of listeners) listener();
  }
}
