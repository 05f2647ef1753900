import t from 'tap';
import { KnownPlugin } from '../../../../../../../src/features/plugins/host/catalog/known-plugin.ts';
import { VersionSwap } from '../../../../../../../src/features/plugins/host/catalog/version-swap.ts';
import { undeclaredPluginEntry } from '../../../../../../../src/features/plugins/records/plugin.ts';

t.test('a plugin is as it was declared, but for what clients made of it', (t) => {
  const declared = undeclaredPluginEntry('p', 'p.ts');
  const versions = new VersionSwap();
  const plain = new KnownPlugin(declared, versions);
  t.equal(plain.entry, declared);
  t.match(plain, { isDisabled: false, serving: undefined, failure: undefined, failedAt: undefined });
  t.equal(plain.caller.timeoutMs, 300_000);
  const made = { pluginId: 'p', settings: { timeout: 7 }, isDisabled: true, declared: {} };
  const changed = new KnownPlugin(declared, versions, made);
  t.match(changed, { entry: { timeout: 7 }, isDisabled: true, caller: { timeoutMs: 7_000 } });
  t.equal(changed.declared, declared);
  t.end();
});
