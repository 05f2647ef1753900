import { z } from 'zod';
import { DEFAULT_LIMITS } from '../../sandbox/protocol.ts';
import { amountSchema } from './amount.ts';
import { hostPermissionSchema } from './host-permission.ts';
import { pluginIdSchema } from './id.ts';

/** What a plugin may do through one relayer. */
export const relayerGrantSchema = z.enum(['read', 'send', 'sign', 'rpc']);

export type RelayerGrant = z.infer<typeof relayerGrantSchema>;

const names = z.array(z.string().min(1)).min(1, 'name at least one, or leave it out: then any is allowed').optional();
const amount = amountSchema(256).optional();

/** The keys of a relayer's permission that limit what is sent. */
export const CAVEATS = ['recipients', 'selectors', 'value_per_call', 'value_per_hour', 'fee_per_hour'] as const;

const limitedSchema = z
  .strictObject({
    methods: z.array(relayerGrantSchema).describe('What it may do'),
    recipients: names.describe('Accounts and contracts that it may send to; no contract can be created then'),
    selectors: names.describe('Functions that it may call, as 0xa9059cbb or transfer(address,uint256); 0x for none'),
    value_per_call: amount.describe('The most that one transaction may move, in the smallest unit'),
    value_per_hour: amount.describe('The most that its transactions may move in any hour, in the smallest unit'),
    fee_per_hour: amount.describe('The most that its transactions may cost in any hour, in the smallest unit'),
  })
  .superRefine((permission, context) => {
    const { methods } = permission;
    const given = CAVEATS.filter((key) => permission[key] !== undefined).join(', ');
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
  relayers: z.record(z.string(), relayerPermissionSchema).default({}).describe('By id of the relayer'),
  hosts: z.array(hostPermissionSchema).default([]).describe('Hosts that it may fetch from'),
  env: z.array(z.string().min(1)).default([]).describe('Environment variables that it may read'),
  kv: z.boolean().default(false).describe('Whether it may use its key-value store'),
});

const megabytes = (least: number) => z.int().min(least).max(65_536);

/** A plugin's `limits`; what is absent has the default of the sandbox's protocol. */
export const limitsSchema = z.strictObject({
  memory_mb: megabytes(8).default(DEFAULT_LIMITS.memory_mb).describe('Of one isolate'),
  process_mb: megabytes(128).default(DEFAULT_LIMITS.process_mb).describe('Of one process, with all its isolates'),
  slice_ms: z
    .int()
    .min(10)
    .max(60_000)
    .default(DEFAULT_LIMITS.slice_ms)
    .describe('The longest stretch of a call without a pause'),
  cpu_ms: z.int().min(10).max(3_600_000).default(DEFAULT_LIMITS.cpu_ms).describe('Of a call, all stretches together'),
  concurrency: z.int().min(1).max(4096).default(DEFAULT_LIMITS.concurrency).describe('Calls at once'),
  processes: z.int().min(1).max(256).default(DEFAULT_LIMITS.processes).describe('Processes at once'),
  calls: z
    .int()
    .min(1)
    .max(1_000_000)
    .default(DEFAULT_LIMITS.calls)
    .describe('Capability calls (relayers, kv, fetch) of one call'),
  result_bytes: z
    .int()
    .min(1024)
    .max(67_108_864)
    .default(DEFAULT_LIMITS.result_bytes)
    .describe('Of the result, as JSON'),
  kv_keys: z.int().min(0).max(100_000_000).default(DEFAULT_LIMITS.kv_keys).describe('Values that it may keep'),
  kv_bytes: z
    .int()
    .min(0)
    .max(1_099_511_627_776)
    .default(DEFAULT_LIMITS.kv_bytes)
    .describe('Of all of them, with their keys'),
  // More does not fit into one request of a plugin.
  kv_value_bytes: z.int().min(2).max(1_000_000).default(DEFAULT_LIMITS.kv_value_bytes).describe('Of one value'),
});

/** One entry of `plugins` in the configuration file. */
export const pluginEntrySchema = z.strictObject({
  id: pluginIdSchema.describe('In the path of its calls'),
  // A leading `plugins/` is taken off, as the reference's files have it.
  path: z.string().min(1).describe('Its file or folder, below the folder of plugins'),
  timeout: z.int().min(1).max(86_400).default(300).describe('Wall limit of a call, in seconds'),
  emit_logs: z.boolean().default(false).describe('Whether answers carry what the plugin logged'),
  emit_traces: z.boolean().default(false).describe('Whether answers carry the relayer calls that it made'),
  emit_usage: z.boolean().default(false).describe('Whether answers carry what the call came to'),
  forward_logs: z.boolean().default(false).describe('Whether its logs go into the log of the service'),
  raw_response: z.boolean().default(false).describe('Whether the result is the whole answer, without the envelope'),
  allow_get_invocation: z.boolean().default(false).describe('Whether GET calls it too'),
  config: z.record(z.string(), z.json()).optional().describe('Handed to the plugin as it is'),
  permissions: permissionsSchema.optional().describe('Absent: every relayer and kv, no hosts, no environment'),
  limits: limitsSchema.default(DEFAULT_LIMITS).describe('What a call, and all of them together, may take'),
  isolation: z.enum(['plugin', 'call']).default('plugin').describe('call: no two calls ever share an isolate'),
});

export type PluginEntry = z.infer<typeof pluginEntrySchema>;

/** The entry of a script that was dropped into the plugins folder and is not named in the configuration. */
export function droppedInEntry(id: string, path: string): PluginEntry {
  return pluginEntrySchema.parse({ id, path });
}
