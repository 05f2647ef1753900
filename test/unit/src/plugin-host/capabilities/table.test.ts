import t from 'tap';
import { bindCapabilities } from '../../../../../src/plugin-host/capabilities/table.ts';
import { PluginServices } from '../../../../support/plugin-services.ts';

t.test('every capability is found by its own method, and no property of an object is one', async (t) => {
  const capabilities = bindCapabilities(new PluginServices());
  t.equal(capabilities.size, 18);
  for (const [method, capability] of capabilities) t.equal(capability.method, method);
  for (const name of ['constructor', '__proto__', 'toString', 'kv', '']) t.equal(capabilities.get(name), undefined);
});
