import t from 'tap';
import { solana } from '../../../../../../src/chains/solana/configuration/family.ts';

t.test('the built-in networks keep to what an entry may say', async (t) => {
  t.ok(solana.builtInNetworks.length > 0);
  for (const { type, network, from: _from, rpc_urls, ...settings } of solana.builtInNetworks) {
    t.equal(type, 'solana');
    t.ok(Array.isArray(rpc_urls), String(network));
    t.ok(solana.networkSchema.safeParse(settings).success, String(network));
  }
});
