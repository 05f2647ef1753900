import t from 'tap';
import { stellar } from '../../../../../../src/chains/stellar/configuration/family.ts';

t.test('the built-in networks keep to what an entry may say', async (t) => {
  t.ok(stellar.builtInNetworks.length > 0);
  for (const { type, network, from: _from, rpc_urls, ...settings } of stellar.builtInNetworks) {
    t.equal(type, 'stellar');
    t.ok(Array.isArray(rpc_urls), String(network));
    t.ok(stellar.networkSchema.safeParse(settings).success, String(network));
  }
});
