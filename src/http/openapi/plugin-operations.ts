import { z } from 'zod';
import { limitsSchema, relayerGrantSchema } from '../../domain/plugin.ts';
import { pluginUpdateSchema } from '../../domain/settings/plugin-settings.ts';
import { envelope, pageOf, pluginFailureSchema, pluginResultSchema } from './answers.ts';
import { BODY, found, type Operation } from './operation.ts';

const moment = z.string().meta({ description: 'RFC 3339' });
const count = z.int().min(0);
const amount = z.string().meta({ description: 'Decimal digits, in the smallest unit' });
const missing = z.string().nullable().meta({ description: 'The line that would grant it; null when it is granted' });

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
    .meta({ description: 'What counts against the hourly limits now; where there is one' }),
});

const limits = z.strictObject(Object.fromEntries(Object.keys(limitsSchema.shape).map((limit) => [limit, count])));

/** A plugin: its entry, state and usage. */
export const pluginSchema = z.strictObject({
  id: z.string(),
  path: z.string(),
  timeout: count.meta({ description: 'Seconds' }),
  emit_logs: z.boolean(),
  emit_traces: z.boolean(),
  emit_usage: z.boolean(),
  raw_response: z.boolean(),
  allow_get_invocation: z.boolean(),
  forward_logs: z.boolean(),
  config: z.record(z.string(), z.string()).nullable().meta({
    description: 'Its keys; the values are hidden',
  }),
  isolation: z.enum(['plugin', 'call']),
  enabled: z.boolean().meta({ description: 'Whether calls are let in' }),
  state: z.enum(['serving', 'broken', 'compiling', 'backing-off']),
  version: z
    .strictObject({ hash: z.string(), since: moment })
    .nullable()
    .meta({ description: 'What calls run; null when no version ever compiled' }),
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
    .meta({ description: 'Why the newest version does not serve' }),
  back_off: z.strictObject({ reason: z.string(), until: moment }).nullable(),
  reads: z
    .strictObject({
      environment: z.array(z.strictObject({ name: z.string(), granted: z.boolean(), missing })),
      fetches: z.boolean(),
      hosts: z.array(z.strictObject({ host: z.string(), granted: z.boolean(), missing })),
      more: z.boolean().meta({ description: 'Whether the code names more entries or hosts than are listed' }),
    })
    .nullable()
    .meta({ description: 'What its code shows that it wants' }),
  permissions: z.strictObject({
    relayers: z.record(z.string(), permissionSchema).meta({
      description: 'By id, those that exist for the key; * stands for every relayer',
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
    since: moment.meta({ description: 'From when on it was counted: a restart begins anew' }),
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
  key_id: z.string().meta({ description: 'The API key that called' }),
  at: moment.meta({ description: 'When it ended' }),
  outcome: z.string().meta({ description: '`returned`, `threw`, or the code of how it was ended' }),
  duration_ms: count,
  logs: z.array(z.strictObject({ level: z.enum(['log', 'debug', 'info', 'warn', 'error']), message: z.string() })),
});

/** The operations that show and change plugins. */
export const pluginViews: Readonly<Record<string, Operation>> = {
  'GET /api/v1/plugins': {
    id: 'listPlugins',
    tag: 'Plugins',
    summary: 'List plugins',
    answer: found('By id', pageOf(pluginSchema)),
    errors: ['INVALID_REQUEST'],
  },
  'GET /api/v1/plugins/:id': {
    id: 'getPlugin',
    tag: 'Plugins',
    summary: 'One plugin: its version, limits, permissions and usage',
    answer: found('The plugin', envelope(pluginSchema)),
    errors: ['PLUGIN_NOT_FOUND'],
  },
  'PATCH /api/v1/plugins/:id': {
    id: 'updatePlugin',
    tag: 'Plugins',
    summary: 'Update a plugin',
    description:
      'What is absent or null stays; a `config` of null is cleared. Calls that run end as they began. What a plugin may do ' +
      'and use is changed in the configuration only.',
    body: { schema: pluginUpdateSchema, required: true, example: { timeout: 30, emit_logs: true } },
    answer: found('The plugin after the change', envelope(pluginSchema)),
    errors: [...BODY, 'PLUGIN_NOT_FOUND'],
  },
  'POST /api/v1/plugins/:id/enable': {
    id: 'enablePlugin',
    tag: 'Plugins',
    summary: 'Let calls of a plugin in again',
    answer: found('The plugin', envelope(pluginSchema)),
    errors: ['INVALID_REQUEST', 'PLUGIN_NOT_FOUND'],
  },
  'POST /api/v1/plugins/:id/disable': {
    id: 'disablePlugin',
    tag: 'Plugins',
    summary: 'Refuse calls of a plugin',
    description: 'Those that run come to their end.',
    answer: found('The plugin', envelope(pluginSchema)),
    errors: ['INVALID_REQUEST', 'PLUGIN_NOT_FOUND'],
  },
  'POST /api/v1/plugins/:id/reload': {
    id: 'reloadPlugin',
    tag: 'Plugins',
    summary: 'Build a plugin anew',
    description:
      'On the instance that is asked, whether its files have changed or not; a back-off ends. A version that does not ' +
      'compile leaves the one before it serving.',
    answer: found('The plugin', envelope(pluginSchema)),
    errors: ['INVALID_REQUEST', 'PLUGIN_NOT_FOUND'],
  },
  'GET /api/v1/plugins/:id/logs': {
    id: 'listPluginLogs',
    tag: 'Plugins',
    summary: 'What the last calls of a plugin wrote',
    description:
      'The last 100 calls on the instance that is asked, without those that wrote nothing and ended well, whether or not ' +
      'their answers carried it.',
    answer: found('The latest first', pageOf(loggedCallSchema)),
    errors: ['INVALID_REQUEST', 'PLUGIN_NOT_FOUND'],
  },
};

/** The operations that call plugins, by their paths without the prefix. */
export function pluginCalls(): Record<string, Operation> {
  const common: Omit<Operation, 'id' | 'summary'> = {
    tag: 'Plugins',
    description:
      'The route reaches the handler as `context.route`, the parameters as `params`: those of the query if given, else ' +
      'the key `params` of the body, else the whole body. A body is read as JSON whatever its content type. An error that ' +
      'the handler throws chooses its status, any from 200 to 599 that can have a body: go by `success`.',
    query: {
      route: 'Route suffix, for instance `/name`; the path wins',
      params: 'Parameters: JSON when it parses, else the text itself',
    },
    answer: found('What the handler returned', pluginResultSchema),
    errors: [
      'INVALID_REQUEST',
      'PLUGIN_NOT_FOUND',
      'PAYLOAD_TOO_LARGE',
      'REQUEST_TIMEOUT',
      'PLUGIN_DISABLED',
      'EFFECT_MISMATCH',
      'EFFECT_UNKNOWN',
      'LOCK_HELD_ELSEWHERE',
    ],
    anyFailure: {
      description: 'The handler threw an error with this status',
      schema: pluginFailureSchema,
      name: 'PluginFailure',
    },
    otherFailures: {
      500: {
        description: 'The handler threw without a status, or broke a limit',
        schema: pluginFailureSchema,
        name: 'PluginFailure',
      },
      503: {
        description: 'No process is free, or the plugin is backed off',
        schema: pluginFailureSchema,
        name: 'PluginFailure',
      },
      504: {
        description: 'The call was longer than its limits allow',
        schema: pluginFailureSchema,
        name: 'PluginFailure',
      },
    },
  };
  const post = {
    ...common,
    body: { schema: z.unknown(), required: false, example: { params: { name: 'Ada' } } },
  };
  const get = { ...common, errors: [...common.errors, 'PLUGIN_GET_DISABLED' as const] };
  return {
    'POST /plugins/:id/call': { ...post, id: 'callPlugin', summary: 'Call a plugin' },
    'POST /plugins/:id/call/*': { ...post, id: 'callPluginRoute', summary: 'Call a plugin, route in the path' },
    'GET /plugins/:id/call': {
      ...get,
      id: 'callPluginGet',
      summary: 'Call a plugin with GET, where its entry allows it',
    },
    'GET /plugins/:id/call/*': { ...get, id: 'callPluginRouteGet', summary: 'The same, route in the path' },
  };
}
