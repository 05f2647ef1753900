import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import { storeFor, temporaryStore } from '../../../../../support/store.ts';
import { networksContract } from '../../../../../support/store-contract/networks.ts';

networksContract(t, storeFor);

const NETWORK = {
  type: 'evm',
  name: 'mine',
  rpcUrls: [{ url: 'https://rpc.example/a-secret-key', weight: 1 }],
  settings: {},
  declaration: null,
} as const;

t.test('endpoints are sealed in their row and open in no other', async (t) => {
  const { store, path, remove } = await temporaryStore();
  t.teardown(remove);
  await store.write(async (writer) => {
    await writer.putNetwork({ ...NETWORK, rpcUrls: [...NETWORK.rpcUrls] });
    await writer.putNetwork({ ...NETWORK, name: 'other', rpcUrls: [] });
  });
  const vandal = new DatabaseSync(path);
  t.teardown(() => vandal.close());
  for (const { rpc_urls } of vandal.prepare('select rpc_urls from networks').all()) {
    t.match(rpc_urls, /^1\./);
    t.notMatch(rpc_urls, /secret/);
  }
  vandal.exec(`update networks set rpc_urls = (select rpc_urls from networks where name = 'mine')`);
  t.match(await store.read.storedNetwork('evm', 'mine'), NETWORK);
  await t.rejects(store.read.storedNetwork('evm', 'other'), { name: 'UnsealableSecret', message: /evm:other/ });
});
