import t from 'tap';
import { storeFor } from '../../../../../support/store.ts';
import { kvLocksContract } from '../../../../../support/store-contract/kv-locks.ts';

kvLocksContract(t, storeFor);

t.test('a lock lasts by the clock of the store', async (t) => {
  let now = 1000;
  const store = await storeFor(t, { now: () => now, elapsed: () => performance.now() });
  const taker = { owner: 'one', isAlone: false, forMs: 500 };
  const take = () => store.write((writer) => writer.kvLock('plugin', 'key', taker));
  const first = await take();
  now = 1499;
  t.equal(await take(), null);
  now = 1500;
  t.ok((await take())?.fence !== first?.fence);
});
