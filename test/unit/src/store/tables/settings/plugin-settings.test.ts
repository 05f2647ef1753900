import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import { storeFor, temporaryStore } from '../../../../../support/store.ts';
import { pluginSettingsContract } from '../../../../../support/store-contract/plugin-settings.ts';

pluginSettingsContract(t, storeFor);

t.test('settings are sealed in their row, and what has another shape is an error', async (t) => {
  const { store, path, remove } = await temporaryStore();
  t.teardown(remove);
  const plugin = { pluginId: 'p', settings: { config: { token: 'canary' } }, isDisabled: false, declared: {} };
  await store.write((writer) => writer.putPlugin(plugin));
  const vandal = new DatabaseSync(path);
  t.teardown(() => vandal.close());
  t.notMatch(JSON.stringify(vandal.prepare('select * from plugin_settings').all()), 'canary');
  vandal.exec('update plugin_settings set is_disabled = 7');
  await t.rejects(store.read.storedPlugins(), { name: 'UnreadableRecord' });
  vandal.exec(`update plugin_settings set is_disabled = 0, plugin_id = 'q'`);
  await t.rejects(store.read.storedPlugin('q'), { name: 'UnsealableSecret' });
});
