import { z } from 'zod';
import { DEFAULT_LIMITS } from '../../sandbox/protocol.ts';
import { pluginIdSchema } from './id.ts';

/** What a plugin may do through one relayer. */
export const relayerGrantSchema = z.enum(['read', 'send', 'sign', 'rpc']);

export type RelayerGrant = z.infer<typeof relayerGrantSchema>;

/** A plugin's `permissions`: where present, each absent key is denied. */
const permissionsSchema = z.strictObject({
  relayers: z.record(z.string(), z.array(relayerGrantSchema)).default({}),
  hosts: z.array(z.string().min(1)).default([]),
  env: z.array(z.string().min(1)).default([]),
  kv: z.boolean().default(false),
});

const megabytes = (least: number) => z.int().min(least).max(65_536);

/** A plugin's `limits`; what is absent has the default of the sandbox's protocol. */
const limitsSchema = z.strictObject({
  memory_mb: megabytes(8).default(DEFAULT_LIMITS.memory_mb),
  process_mb: megabytes(128).default(DEFAULT_LIMITS.process_mb),
  slice_ms: z.int().min(10).max(60_000).default(DEFAULT_LIMITS.slice_ms),
  cpu_ms: z.int().min(10).max(3_600_000).default(DEFAULT_LIMITS.cpu_ms),
  concurrency: z.int().min(1).max(4096).default(DEFAULT_LIMITS.concurrency),
  processes: z.int().min(1).max(256).default(DEFAULT_LIMITS.processes),
  calls: z.int().min(1).max(1_000_000).default(DEFAULT_LIMITS.calls),
  result_bytes: z.int().min(1024).max(67_108_864).default(DEFAULT_LIMITS.result_bytes),
});

/** One entry of `plugins` in the configuration file. */
export const pluginEntrySchema = z.strictObject({
  id: pluginIdSchema,
  /** Below the plugins folder; a leading `plugins/` is taken off, as the reference's files have it. */
  path: z.string().min(1),
  /** Wall limit of a call, in seconds. */
  timeout: z.int().min(1).max(86_400).default(300),
  emit_logs: z.boolean().default(false),
  emit_traces: z.boolean().default(false),
  forward_logs: z.boolean().default(false),
  raw_response: z.boolean().default(false),
  allow_get_invocation: z.boolean().default(false),
  config: z.record(z.string(), z.json()).optional(),
  /** Absent: every relayer, kv, no hosts, no environment. */
  permissions: permissionsSchema.optional(),
  limits: limitsSchema.default(DEFAULT_LIMITS),
  isolation: z.enum(['plugin', 'call']).default('plugin'),
});

export type PluginEntry = z.infer<typeof pluginEntrySchema>;

/** The entry of a script that was dropped into the plugins folder and is not named in the configuration. */
export function droppedInEntry(id: string, path: string): PluginEntry {
  return pluginEntrySchema.parse({ id, path });
}
