import { invalidRequest } from '../../domain/errors.ts';
import type { JsonObject } from '../../domain/json/json.ts';
import type { Store } from '../../store/store.ts';
import type { Caller } from '../api-keys/records/caller.ts';
import type { AuditedChange } from '../audit/record.ts';
import { valueDigest } from '../compare-declarations.ts';
import { parseBody } from '../request-body.ts';
import { changeSettingsOnce } from '../resource.ts';
import type { SettingsFeed } from '../settings-feed.ts';
import type { PluginEntry } from './records/plugin.ts';
import {
  HIDDEN_VALUE,
  PLUGIN_SETTINGS,
  type PluginSettings,
  pluginUpdateSchema,
  type StoredPlugin,
  settingsView,
  withSettings,
} from './records/plugin-settings.ts';

/** The changes that clients can make to plugins. `entry` is always the entry as declared. */
export interface PluginsService {
  /** 400. */
  update(entry: PluginEntry, body: unknown, by: Caller): Promise<void>;
  /** Admits or refuses the plugin's calls from now on. */
  enable(entry: PluginEntry, isEnabled: boolean, by: Caller): Promise<void>;
}

export interface PluginsDeps {
  store: Store;
  feed: Pick<SettingsFeed, 'changed'>;
}

export function createPluginsService({ store, feed }: PluginsDeps): PluginsService {
  async function change(
    entry: PluginEntry,
    by: Caller,
    made: (before: StoredPlugin) => StoredPlugin,
    secrets: readonly string[] = [],
  ): Promise<void> {
    await changeSettingsOnce(store, by, async (writer) => {
      const before = (await writer.storedPlugin(entry.id)) ?? untouched(entry.id);
      const after = made(before);
      await writer.putPlugin(after);
      const [was, is] = [before, after].map((one) => viewOf(entry, one));
      const audit: AuditedChange = {
        action: 'update',
        resource: 'plugin',
        resourceId: entry.id,
        before: was ?? null,
        after: is ?? null,
        secrets,
      };
      return { outcome: null, audit };
    });
    await feed.changed('plugin');
  }

  return {
    async update(entry, body, by) {
      const asked = parseBody(pluginUpdateSchema, body);
      const given = PLUGIN_SETTINGS.filter(
        (name) => asked[name] != null || (name === 'config' && asked.config === null),
      );
      const changed = Object.fromEntries(given.map((name) => [name, asked[name]])) as PluginSettings;
      const digests = Object.fromEntries(given.map((name) => [name, pluginFieldDigest(entry, name)]));
      await change(
        entry,
        by,
        (before) => ({
          ...before,
          settings: { ...before.settings, ...changed, ...keptConfig(changed, withSettings(entry, before.settings)) },
          declared: { ...before.declared, ...digests },
        }),
        given.includes('config') ? ['config'] : [],
      );
    },

    async enable(entry, isEnabled, by) {
      await change(entry, by, (before) => ({ ...before, isDisabled: !isEnabled }));
    },
  };
}

/** Returns a digest of the declared value of a field. A later start compares it with the value declared then. */
export function pluginFieldDigest(entry: PluginEntry, field: keyof PluginSettings): string {
  return valueDigest(entry[field] ?? null);
}

/**
 * Keeps the stored value for each value that is sent back hidden, as answers show it.
 * @throws AppError `INVALID_REQUEST` where there is no stored value
 */
function keptConfig({ config }: PluginSettings, { config: before = {} }: PluginEntry): Pick<PluginSettings, 'config'> {
  if (config == null) return {};
  const values = Object.entries(config).map(([key, value]) => {
    if (value !== HIDDEN_VALUE) return [key, value] as const;
    if (Object.hasOwn(before, key)) return [key, before[key]] as const;
    throw invalidRequest(
      `config.${key}: ${HIDDEN_VALUE} is the placeholder of a stored value, and none is stored; send the value`,
    );
  });
  return { config: Object.fromEntries(values) as JsonObject };
}

function untouched(pluginId: string): StoredPlugin {
  return { pluginId, settings: {}, isDisabled: false, declared: {} };
}

function viewOf(entry: PluginEntry, { settings, isDisabled }: StoredPlugin) {
  return { id: entry.id, enabled: !isDisabled, ...settingsView(withSettings(entry, settings)) };
}
