import t from 'tap';
import { evm } from '../../../../../../src/chains/evm/configuration/family.ts';

t.test('the built-in networks keep to what an entry may say', async (t) => {
  t.ok(evm.builtInNetworks.length > 0);
  for (const { type, network, from: _from, rpc_urls, ...settings } of evm.builtInNetworks) {
    t.equal(type, 'evm');
    t.ok(Array.isArray(rpc_urls), String(network));
    t.ok(evm.networkSchema.safeParse(settings).success, String(network));
  }
});
