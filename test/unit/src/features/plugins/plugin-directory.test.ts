import t from 'tap';
import { PluginDirectory } from '../../../../../src/features/plugins/plugin-directory.ts';
import type { StoredPlugin } from '../../../../../src/features/plugins/records/plugin-settings.ts';

t.test('what was read is there, and who goes by it is told', async (t) => {
  const stored: StoredPlugin[] = [];
  const directory = new PluginDirectory({ storedPlugins: async () => stored });
  await directory.reload();
  t.equal(directory.of('p'), undefined);
  let told = 0;
  directory.whenRead(() => {
    told += 1;
  });
  const plugin = { pluginId: 'p', settings: { timeout: 5 }, isDisabled: false, declared: {} };
  stored.push(plugin);
  await directory.reload();
  t.equal(directory.of('p'), plugin);
  t.equal(told, 1);
});
