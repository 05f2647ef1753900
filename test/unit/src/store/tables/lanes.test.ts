import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import { storeFor, temporaryStore } from '../../../../support/store.ts';
import { lanesContract } from '../../../../support/store-contract/lanes.ts';

lanesContract(t, storeFor);

t.test('what nobody can read as a sequence is not taken for one', async (t) => {
  const { store, path, remove } = await temporaryStore();
  t.teardown(remove);
  await store.write((writer) => writer.settleSequence('one', 5n));
  const vandal = new DatabaseSync(path);
  t.teardown(() => vandal.close());
  vandal.exec(`update lanes set settled = '7'`);
  await t.rejects(store.read.settledSequence('one'));
  await t.rejects(store.read.knownSequence('one'));
});
