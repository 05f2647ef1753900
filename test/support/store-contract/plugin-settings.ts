import type { Test } from 'tap';
import type { StoredPlugin } from '../../../src/features/plugins/records/plugin-settings.ts';
import type { Store } from '../../../src/store/store.ts';

const PLUGIN: StoredPlugin = {
  pluginId: 'p@1.x',
  settings: { timeout: 5, emit_logs: true, config: { token: 'secret', nested: [1, { ü: null }] } },
  isDisabled: true,
  declared: { timeout: 'digest' },
};

/** Tests of clients' settings of plugins for every store. */
export function pluginSettingsContract(t: Test, open: (t: Test) => Promise<Store>): void {
  t.test('the settings of a plugin come back as they were put, and go', async (t) => {
    const store = await open(t);
    t.equal(await store.read.storedPlugin('p@1.x'), undefined);
    await store.write((writer) => writer.putPlugin(PLUGIN));
    t.strictSame(await store.read.storedPlugin('p@1.x'), PLUGIN);
    const bare: StoredPlugin = { ...PLUGIN, settings: { config: null }, isDisabled: false, declared: {} };
    await store.write(async (writer) => {
      await writer.putPlugin(bare);
      await writer.putPlugin({ ...bare, pluginId: 'a' });
    });
    t.strictSame(await store.read.storedPlugins(), [{ ...bare, pluginId: 'a' }, bare]);
    await store.write((writer) => writer.deletePlugin('a'));
    await store.write((writer) => writer.deletePlugin('nobody'));
    t.strictSame(await store.read.storedPlugins(), [bare]);
  });
}
