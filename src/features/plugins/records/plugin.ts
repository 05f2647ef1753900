import { z } from 'zod';
import { DEFAULT_LIMITS } from '../../../../sandbox/contract.ts';
import { amountSchema } from '../../../domain/amount.ts';
import { pluginIdSchema } from '../../../domain/id.ts';
import { durationOf, triggersSchema } from '../../triggers/records/trigger.ts';
import { hostPermissionSchema } from './host-permission.ts';

/** What a plugin may do through one relayer. */
export const relayerGrantSchema = z.enum(['read', 'send', 'sign', 'rpc']);

export type RelayerGrant = z.infer<typeof relayerGrantSchema>;

const names = z.array(z.string().min(1)).min(1, 'name at least one, or leave it out: then any is allowed').optional();
const amount = amountSchema(256).optional();

/** The keys of a relayer's permission that limit what is sent. */
export const SPENDING_CAVEATS = [
  'recipients',
  'selectors',
  'value_per_call',
  'value_per_hour',
  'fee_per_hour',
] as const;

const limitedSchema = z
  .strictObject({
    methods: z.array(relayerGrantSchema).describe('What the plugin may do with the relayer'),
    recipients: names.describe('Allowed receivers; no contract can be created if given. Default: any'),
    selectors: names.describe('Allowed calls: 0xa9059cbb or transfer(address,uint256); 0x: without data. Default: any'),
    value_per_call: amount.describe(
      'Maximum value of one transaction, in the smallest unit of the coin; EVM tokens are not counted. Default: no limit',
    ),
    value_per_hour: amount.describe(
      'Maximum value of all transactions in any hour, in the smallest unit of the coin; EVM tokens are not counted. Default: no limit',
    ),
    fee_per_hour: amount.describe(
      'Maximum fees of all transactions in any hour, in the smallest unit. Default: no limit',
    ),
  })
  .superRefine((permission, context) => {
    const { methods } = permission;
    const given = SPENDING_CAVEATS.filter((key) => permission[key] !== undefined).join(', ');
    if (given === '') return;
    const refuse = (message: string) => context.addIssue({ code: 'custom', path: ['methods'], message });
    if (!methods.includes('send')) refuse(`${given}: limits what is sent, and "send" is not among the methods`);
    if (methods.includes('sign')) {
      refuse(`"sign" cannot stand beside ${given}: whoever has what is signed can send it at any time`);
    }
  });

const { $schema: _, ...limitedForm } = z.toJSONSchema(limitedSchema, { io: 'input', unrepresentable: 'any' });

/** What a plugin may do through one relayer, and within which limits: a list of methods, or an object with caveats. */
const relayerPermissionSchema = z
  .preprocess((value) => (Array.isArray(value) ? { methods: value as unknown[] } : value), limitedSchema)
  .meta({
    anyOf: [{ type: 'array', items: { type: 'string', enum: [...relayerGrantSchema.options] } }, limitedForm],
  });

export type RelayerPermission = z.output<typeof relayerPermissionSchema>;

/** A plugin's `permissions`: where present, each absent key is denied. */
const permissionsSchema = z.strictObject({
  relayers: z
    .record(z.string(), relayerPermissionSchema)
    .default({})
    .describe('Access to relayers, by relayer id. Default: none'),
  hosts: z.array(hostPermissionSchema).default([]).describe('Hosts that the plugin may fetch from. Default: none'),
  env: z.array(z.string().min(1)).default([]).describe('Environment variables that the plugin may read'),
  kv: z.boolean().default(false).describe('Whether the plugin may use its key-value store'),
});

const megabytes = (least: number) => z.int().min(least).max(65_536);

/** A plugin's `limits`; what is absent has the default of the sandbox's protocol. */
export const limitsSchema = z.strictObject({
  memory_mb: megabytes(8).default(DEFAULT_LIMITS.memory_mb).describe('Maximum heap of one isolate, in MiB'),
  process_mb: megabytes(128)
    .default(DEFAULT_LIMITS.process_mb)
    .describe('Maximum memory of one process with all its isolates, in MiB'),
  slice_ms: z
    .int()
    .min(10)
    .max(60_000)
    .default(DEFAULT_LIMITS.slice_ms)
    .describe(
      'Longest stretch of code without a pause, in milliseconds; up to 4 times as long while others have the processor',
    ),
  cpu_ms: z
    .int()
    .min(10)
    .max(3_600_000)
    .default(DEFAULT_LIMITS.cpu_ms)
    .describe('Maximum processor time of one call, in milliseconds'),
  concurrency: z
    .int()
    .min(1)
    .max(4096)
    .default(DEFAULT_LIMITS.concurrency)
    .describe('Maximum number of calls that run at once, over all processes'),
  processes: z
    .int()
    .min(1)
    .max(256)
    .default(DEFAULT_LIMITS.processes)
    .describe('Maximum number of processes that run at once'),
  calls: z
    .int()
    .min(1)
    .max(1_000_000)
    .default(DEFAULT_LIMITS.calls)
    .describe('Maximum number of relayer, kv and fetch calls in one plugin call'),
  result_bytes: z
    .int()
    .min(1024)
    .max(67_108_864)
    .default(DEFAULT_LIMITS.result_bytes)
    .describe('Maximum size of the result as JSON, in bytes'),
  kv_keys: z
    .int()
    .min(0)
    .max(100_000_000)
    .default(DEFAULT_LIMITS.kv_keys)
    .describe('Maximum number of keys in the key-value store'),
  kv_bytes: z
    .int()
    .min(0)
    .max(1_099_511_627_776)
    .default(DEFAULT_LIMITS.kv_bytes)
    .describe('Maximum size of all keys and values in the store, in bytes'),
  // More does not fit into one request of a plugin.
  kv_value_bytes: z
    .int()
    .min(2)
    .max(1_000_000)
    .default(DEFAULT_LIMITS.kv_value_bytes)
    .describe('Maximum size of one value as JSON, in bytes'),
});

/** The longest lifetime of a durable call, in milliseconds. */
const MAX_LIFETIME_MS = 90 * 86_400_000;
const DEFAULT_LIFETIME = '24h';

/** How long a durable call of a plugin may last, in milliseconds. */
export function lifetimeOf({ limits }: Pick<PluginEntry, 'limits'>): number {
  return durationOf(limits.lifetime, MAX_LIFETIME_MS) ?? MAX_LIFETIME_MS;
}

/** The limits of an entry: those of the sandbox, and that of durable calls. */
const entryLimitsSchema = limitsSchema.extend({
  lifetime: z
    .string()
    .refine(
      (text) => durationOf(text, MAX_LIFETIME_MS) !== undefined,
      'expected a time such as 30m, 24h or 7d, at most 90d',
    )
    .default(DEFAULT_LIFETIME)
    .describe('Longest time from the start of a durable call to its end: a number with s, m, h or d'),
});

/** One entry of `plugins` in the configuration file. */
export const pluginEntrySchema = z.strictObject({
  id: pluginIdSchema.describe('Id of the plugin, used in the path of its calls'),
  // A leading `plugins/` is taken off, as the reference's files have it.
  path: z.string().min(1).describe('File or folder of the plugin, relative to the plugins folder'),
  timeout: z.int().min(1).max(86_400).default(300).describe('Maximum duration of a call, in seconds'),
  emit_logs: z.boolean().default(false).describe('Whether answers include what the plugin logged'),
  emit_traces: z.boolean().default(false).describe('Whether answers include the relayer calls that the plugin made'),
  emit_usage: z.boolean().default(false).describe('Whether answers include the resources that the call used'),
  forward_logs: z.boolean().default(false).describe('Whether the log of the service includes what the plugin logged'),
  raw_response: z.boolean().default(false).describe('Whether answers are the bare result, without the envelope'),
  allow_get_invocation: z.boolean().default(false).describe('Whether GET requests may call the plugin too'),
  config: z.record(z.string(), z.json()).optional().describe('Settings that are passed to the plugin unchanged'),
  permissions: permissionsSchema
    .optional()
    .describe('What the plugin may access. Default: all relayers and kv, no hosts, no variables'),
  durable: z
    .boolean()
    .default(false)
    .describe('Whether an accepted call is stored and runs to its end, whatever dies meanwhile'),
  limits: entryLimitsSchema
    .default({ ...DEFAULT_LIMITS, lifetime: DEFAULT_LIFETIME })
    .describe('Resource limits of one call and of all calls together'),
  isolation: z
    .enum(['plugin', 'call'])
    .default('plugin')
    .describe('plugin: calls may share an isolate; call: they never do'),
  triggers: triggersSchema.optional().describe('Times and events at which the service itself calls the plugin'),
});

export type PluginEntry = z.infer<typeof pluginEntrySchema>;

/** The entry of a script that was dropped into the plugins folder and is not named in the configuration. */
export function undeclaredPluginEntry(id: string, path: string): PluginEntry {
  return pluginEntrySchema.parse({ id, path });
}
