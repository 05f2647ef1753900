import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import { storeFor, temporaryStore } from '../../../../support/store.ts';
import { relayerBalancesContract } from '../../../../support/store-contract/relayer-balances.ts';

relayerBalancesContract(t, storeFor);

t.test('a balance of unknown shape is an error that names it', async (t) => {
  const { store, path, remove } = await temporaryStore();
  t.teardown(remove);
  await store.write((writer) => writer.putRelayerBalance({ relayerId: 'r1', balance: 1n, isLow: false }));
  const vandal = new DatabaseSync(path);
  vandal.exec(`update relayer_balances set balance = 'much'`);
  vandal.close();
  await t.rejects(store.read.relayerBalance('r1'), { name: 'UnreadableRecord', message: /r1/ });
});
