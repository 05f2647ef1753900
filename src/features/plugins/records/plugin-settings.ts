import { z } from 'zod';
import type { JsonObject } from '../../../domain/json/json.ts';
import {
  defineRecord,
  type FieldsOf,
  booleanColumn as flagColumn,
  jsonColumn,
  sealedColumn,
  textColumn,
} from '../../../domain/record.ts';
import type { PluginEntry } from './plugin.ts';

/** The settings of a plugin that clients may change. Its permissions and limits are the operator's. */
const settingsSchema = z.strictObject({
  timeout: z.int().min(1, 'Timeout must be greater than 0').max(86_400).exactOptional(),
  emit_logs: z.boolean().exactOptional(),
  emit_traces: z.boolean().exactOptional(),
  emit_usage: z.boolean().exactOptional(),
  raw_response: z.boolean().exactOptional(),
  allow_get_invocation: z.boolean().exactOptional(),
  forward_logs: z.boolean().exactOptional(),
  /** Null: none. */
  config: z.record(z.string(), z.json()).nullable().exactOptional(),
});

/** The settings of a plugin that clients have changed. Absent ones are as declared. */
export type PluginSettings = z.output<typeof settingsSchema>;

export const pluginSettingsSchema: z.ZodType<PluginSettings> = settingsSchema;

/** The fields that clients may change. */
export const PLUGIN_SETTINGS = Object.keys(settingsSchema.shape) as (keyof PluginSettings)[];

const flag = z.boolean().nullish();

/** The body that changes a plugin. Absent or null fields stay, but a null `config` removes the configuration. */
export const pluginUpdateSchema = z.strictObject({
  timeout: settingsSchema.shape.timeout.unwrap().nullish().describe('Maximum duration of a call, in seconds'),
  emit_logs: flag,
  emit_traces: flag,
  emit_usage: flag,
  raw_response: flag,
  allow_get_invocation: flag,
  forward_logs: flag,
  config: settingsSchema.shape.config
    .unwrap()
    .optional()
    .describe('Settings that are passed to the plugin unchanged; null removes them'),
});

const columns = {
  pluginId: textColumn,
  /** A configuration in them often has keys. */
  settings: sealedColumn(jsonColumn(pluginSettingsSchema)),
  /** Whether calls of the plugin are refused. */
  isDisabled: flagColumn,
  /** By field, a digest of what was declared when a client changed it. */
  declared: jsonColumn(z.record(z.string(), z.string())),
};

export const pluginSettingsRecord = defineRecord('plugin_settings', columns, { key: ['pluginId'] });

/** A plugin's settings as they are stored. */
export interface StoredPlugin extends FieldsOf<typeof columns> {}

/** An entry with the clients' changes applied. */
export function withSettings(entry: PluginEntry, { config, ...settings }: PluginSettings): PluginEntry {
  const changed = { ...entry, ...settings };
  if (config === undefined) return changed;
  const { config: _, ...others } = changed;
  return config === null ? others : { ...others, config };
}

/** Stands for each value of a configuration where it is shown. */
export const HIDDEN_VALUE = '[hidden]';

/**
 * The settings as answers and records show them. Of a configuration they show only the keys, because operators put
 * secrets into it.
 */
export function settingsView(entry: PluginEntry): JsonObject {
  return {
    timeout: entry.timeout,
    emit_logs: entry.emit_logs,
    emit_traces: entry.emit_traces,
    emit_usage: entry.emit_usage,
    raw_response: entry.raw_response,
    allow_get_invocation: entry.allow_get_invocation,
    forward_logs: entry.forward_logs,
    config:
      entry.config === undefined
        ? null
        : Object.fromEntries(Object.keys(entry.config).map((key) => [key, HIDDEN_VALUE])),
  };
}
