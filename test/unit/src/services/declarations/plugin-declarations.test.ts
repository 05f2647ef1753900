import t from 'tap';
import { droppedInEntry } from '../../../../../src/domain/plugin.ts';
import type { StoredPlugin } from '../../../../../src/domain/settings/plugin-settings.ts';
import { applyPlugins } from '../../../../../src/services/declarations/plugin-declarations.ts';
import { declaredDigest } from '../../../../../src/services/settings/plugins.ts';
import { storeFor } from '../../../../support/store.ts';

const entry = (given: object = {}) => ({ ...droppedInEntry('p', 'p.ts'), ...given });
const changed = (pluginId: string): StoredPlugin => ({
  pluginId,
  settings: { timeout: 5, emit_logs: true },
  isDisabled: true,
  declared: { timeout: declaredDigest(entry(), 'timeout'), emit_logs: declaredDigest(entry(), 'emit_logs') },
});

t.test('a field that the file says something else of is the file’s, the others stay', async (t) => {
  const store = await storeFor(t);
  await store.write(async (writer) => {
    await writer.putPlugin(changed('p'));
    await writer.putPlugin(changed('dropped-in'));
  });
  const settingsOf = async (id: string) => (await store.read.storedPlugin(id))?.settings;
  await applyPlugins(store, [entry()]);
  t.strictSame(await settingsOf('p'), { timeout: 5, emit_logs: true });
  await applyPlugins(store, [entry({ timeout: 60 })]);
  t.strictSame(await settingsOf('p'), { emit_logs: true });
  t.strictSame(await settingsOf('dropped-in'), { timeout: 5, emit_logs: true });
  t.match(await store.read.storedPlugin('p'), { isDisabled: true });
  await applyPlugins(store, [entry()], { reset: true });
  t.strictSame(await store.read.storedPlugins(), []);
});
