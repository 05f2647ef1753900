import { z } from 'zod';
import { limitsSchema, relayerGrantSchema } from '../../domain/plugin.ts';
import { pluginUpdateSchema } from '../../domain/settings/plugin-settings.ts';
import { envelope, pageOf, pluginFailureSchema, pluginResultSchema } from './answers.ts';
import { BODY, found, type Operation } from './operation.ts';

const moment = z.string().meta({ description: 'Time (RFC 3339)' });
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

const limits = z.strictObject(Object.fromEntries(Object.keys(limitsSchema.shape).map((limit) => [limit, count])));

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

/** The operations that show and change plugins. */
export const pluginViews: Readonly<Record<string, Operation>> = {
  'GET /api/v1/plugins': {
    id: 'listPlugins',
    tag: 'Plugins',
    summary: 'List plugins',
    answer: found('Plugins, sorted by id', pageOf(pluginSchema)),
    errors: ['INVALID_REQUEST'],
  },
  'GET /api/v1/plugins/:id': {
    id: 'getPlugin',
    tag: 'Plugins',
    summary: 'Get a plugin with its version, limits, permissions and usage',
    answer: found('The plugin', envelope(pluginSchema)),
    errors: ['PLUGIN_NOT_FOUND'],
  },
  'PATCH /api/v1/plugins/:id': {
    id: 'updatePlugin',
    tag: 'Plugins',
    summary: 'Update a plugin',
    description:
      'Absent and null fields do not change, but a `config` of null clears the configuration of the plugin. Running ' +
      'calls keep the earlier settings. The permissions and limits of a plugin can be changed only by the operator.',
    body: { schema: pluginUpdateSchema, required: true, example: { timeout: 30, emit_logs: true } },
    answer: found('The plugin after the change', envelope(pluginSchema)),
    errors: [...BODY, 'PLUGIN_NOT_FOUND'],
  },
  'POST /api/v1/plugins/:id/enable': {
    id: 'enablePlugin',
    tag: 'Plugins',
    summary: 'Enable a plugin',
    answer: found('The plugin', envelope(pluginSchema)),
    errors: ['INVALID_REQUEST', 'PLUGIN_NOT_FOUND'],
  },
  'POST /api/v1/plugins/:id/disable': {
    id: 'disablePlugin',
    tag: 'Plugins',
    summary: 'Disable a plugin',
    description: 'New calls are refused. Running calls finish.',
    answer: found('The plugin', envelope(pluginSchema)),
    errors: ['INVALID_REQUEST', 'PLUGIN_NOT_FOUND'],
  },
  'POST /api/v1/plugins/:id/reload': {
    id: 'reloadPlugin',
    tag: 'Plugins',
    summary: 'Rebuild a plugin',
    description:
      'Builds the plugin on the instance that gets the request, even if its files have not changed, and ends a ' +
      'back-off. If the new version does not compile, the previous version stays in use.',
    answer: found('The plugin', envelope(pluginSchema)),
    errors: ['INVALID_REQUEST', 'PLUGIN_NOT_FOUND'],
  },
  'GET /api/v1/plugins/:id/logs': {
    id: 'listPluginLogs',
    tag: 'Plugins',
    summary: 'List the logs of the last calls of a plugin',
    description:
      'Lists the last 100 calls on the instance that gets the request, even if their responses had no logs. Calls ' +
      'that succeeded and wrote nothing are left out.',
    answer: found('Calls with their logs, latest first', pageOf(loggedCallSchema)),
    errors: ['INVALID_REQUEST', 'PLUGIN_NOT_FOUND'],
  },
};

/** The operations that call plugins, by their paths without the prefix. */
export function pluginCalls(): Record<string, Operation> {
  const common: Omit<Operation, 'id' | 'summary'> = {
    tag: 'Plugins',
    description:
      'The handler gets the route as `context.route`, and the parameters as `params`. The parameters are the query ' +
      'parameter `params` if given, else the key `params` of the body, else the whole body. A body is read as JSON, ' +
      'whatever its content type. An error that the handler throws may have any status from 200 to 599 that can have ' +
      'a body, so look at `success` rather than at the status.',
    query: {
      route: 'Route, for instance `/name`; ignored if the path has a route',
      params: 'Parameters, as JSON; a value that is not JSON is passed as text',
    },
    answer: found('Return value of the handler', pluginResultSchema),
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
  };
  const post = {
    ...common,
    body: { schema: z.unknown(), required: false, example: { params: { name: 'Ada' } } },
  };
  const get = { ...common, errors: [...common.errors, 'PLUGIN_GET_DISABLED' as const] };
  return {
    'POST /plugins/:id/call': { ...post, id: 'callPlugin', summary: 'Call a plugin' },
    'POST /plugins/:id/call/*': { ...post, id: 'callPluginRoute', summary: 'Call a plugin with a route in the path' },
    'GET /plugins/:id/call': {
      ...get,
      id: 'callPluginGet',
      summary: 'Call a plugin with GET, if its configuration allows it',
    },
    'GET /plugins/:id/call/*': {
      ...get,
      id: 'callPluginRouteGet',
      summary: 'Call a plugin with GET and a route in the path',
    },
  };
}
