import type { PluginEntry } from '../../domain/plugin.ts';
import { droppedInEntry } from '../../domain/plugin.ts';
import { PLUGIN_SETTINGS, type PluginSettings, type StoredPlugin } from '../../domain/settings/plugin-settings.ts';
import type { Store } from '../../store/store.ts';
import { declaredDigest } from '../settings/plugins.ts';

/**
 * Brings the declared plugins and what clients made of plugins together: a field that the file says something else of
 * than when a client changed it is the file's again. With `reset` all is as the file says.
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
      // One that was dropped in has no entry; its path says nothing about these fields.
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
