import t from 'tap';
import { storeFor } from '../../../../support/store.ts';

t.test('the moment from which another run may begin is the clock of the store', async (t) => {
  let now = 1000;
  const store = await storeFor(t, { now: () => now, elapsed: () => performance.now() });
  const claim = () =>
    store.write((writer) =>
      writer.claimKey(
        { scope: 's', key: 'k', fingerprint: 'f' },
        { id: crypto.randomUUID(), owner: 'o', forMs: 500, isAlone: false },
      ),
    );
  await claim();
  now = 1499;
  t.equal((await claim()).kind, 'running');
  now = 1500;
  t.match(await claim(), { kind: 'claimed', claim: { token: 2 } });
});
