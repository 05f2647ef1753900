import t from 'tap';
import { storeFor } from '../../../../../support/store.ts';
import { kvContract } from '../../../../../support/store-contract/kv.ts';

kvContract(t, storeFor);

t.test('the moment of expiry is the clock of the store', async (t) => {
  let now = 1000;
  const store = await storeFor(t, { now: () => now, elapsed: () => performance.now() });
  await store.write((writer) => writer.kvSet('plugin', 'key', '1', { forMs: 1000 }));
  now = 1999;
  t.equal(await store.read.kvGet('plugin', 'key'), '1');
  now = 2000;
  t.equal(await store.read.kvGet('plugin', 'key'), undefined);
});
