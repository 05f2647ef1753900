import type { PluginEntry } from '../../domain/plugin.ts';
import { droppedInEntry } from '../../domain/plugin.ts';
import { PLUGIN_SETTINGS, type PluginSettings, type StoredPlugin } from '../../domain/settings/plugin-settings.ts';
import type { Store } from '../../store/store.ts';
import { declaredDigest } from '../settings/plugins.ts';

/**
 * Merges the declared plugins with clients' changes. If the declared value of a field changed since a client's change,
 * the declared value counts. With `reset`, the declared values alone count.
 */
export async function applyPlugins(
  store: Pick<Store, 'write'>,
  declared: readonly PluginEntry[],
  { reset = false } = {},
): Promise<void> {
  const entries = new Map(declared.map((entry) => [entry.id, entry]));
  await store.write(async (writer) => {
    for (const plugin of await writer.storedPlugins()) {
      const { pluginId } = plugin;
      // A plugin that was dropped into the folder has no entry. Its path does not affect these fields, so the id can
      // stand for it.
      const entry = entries.get(pluginId) ?? droppedInEntry(pluginId, pluginId);
      if (reset) await writer.deletePlugin(pluginId);
      else await writer.putPlugin({ ...plugin, settings: keptSettings(plugin, entry) });
    }
  });
}

function keptSettings({ settings, declared }: StoredPlugin, entry: PluginEntry): PluginSettings {
  const kept = PLUGIN_SETTINGS.filter(
    (name) => settings[name] !== undefined && declared[name] === declaredDigest(entry, name),
  );
  return Object.fromEntries(kept.map((name) => [name, settings[name]]));
}
