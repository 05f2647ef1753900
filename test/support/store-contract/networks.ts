import type { Test } from 'tap';
import type { StoredNetwork } from '../../../src/features/networks/record.ts';
import type { Store } from '../../../src/store/store.ts';

function networkOf(given: Partial<StoredNetwork> = {}): StoredNetwork {
  const rpcUrls = [{ url: 'https://rpc.example/v3/a-secret-key', weight: 70 }];
  return { type: 'evm', name: 'mine', rpcUrls, settings: { chain_id: 5, tags: ['ü'] }, declaration: null, ...given };
}

/** Tests of networks for every store. */
export function networksContract(t: Test, open: (t: Test) => Promise<Store>): void {
  t.test('a network comes back as it was put, and changes in its place', async (t) => {
    const store = await open(t);
    await store.write((writer) => writer.putNetwork(networkOf()));
    t.strictSame(await store.read.storedNetwork('evm', 'mine'), networkOf());
    t.equal(await store.read.storedNetwork('solana', 'mine'), undefined);
    t.equal(await store.read.storedNetwork('evm', 'Mine'), undefined);
    const moved = networkOf({ settings: null, declaration: 'digest', rpcUrls: [] });
    await store.write((writer) => writer.putNetwork(moved));
    t.strictSame(await store.read.storedNetworks(), [moved]);
  });

  t.test('one name may be there in each type, and those of one write are in an order', async (t) => {
    const store = await open(t);
    await store.write(async (writer) => {
      for (const [type, name] of [
        ['evm', 'a'],
        ['stellar', 'a'],
        ['evm', 'b'],
      ] as const) {
        await writer.putNetwork(networkOf({ type, name }));
      }
    });
    const keys = async () => (await store.read.storedNetworks()).map(({ type, name }) => `${type}:${name}`);
    t.strictSame(await keys(), ['stellar:a', 'evm:b', 'evm:a']);
    t.equal(await store.write((writer) => writer.deleteNetwork('evm', 'a')), true);
    t.equal(await store.write((writer) => writer.deleteNetwork('evm', 'a')), false);
    t.strictSame(await keys(), ['stellar:a', 'evm:b']);
  });
}
