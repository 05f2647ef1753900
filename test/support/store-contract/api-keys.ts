import type { Test } from 'tap';
import type { ApiKey } from '../../../src/features/api-keys/records/api-key.ts';
import type { Store } from '../../../src/store/store.ts';

function keyOf(given: Partial<ApiKey> = {}): Omit<ApiKey, 'createdAt'> {
  return {
    id: 'k1',
    name: 'Ünïcode 🚀',
    permissions: ['relayers:a:send', '*'],
    allowedOrigins: ['*'],
    rate: { perSecond: 5, burst: 7 },
    expiresAt: 1_900_000_000_000,
    ancestors: [
      { id: 'root', rate: null },
      { id: 'parent', rate: { perSecond: 5, burst: 9 } },
    ],
    ...given,
  };
}

/** Tests of API keys for every store. */
export function apiKeysContract(t: Test, open: (t: Test) => Promise<Store>): void {
  t.test('a key comes back as it was put, by its id and by its hash, and goes', async (t) => {
    const store = await open(t);
    const endless = keyOf({ id: 'k2', rate: null, expiresAt: null });
    await store.write(async (writer) => {
      await writer.insertApiKey(keyOf(), 'hash of k1');
      await writer.insertApiKey(endless, 'hash of k2');
    });
    const { createdAt, ...stored } = { createdAt: null, ...(await store.read.apiKey('k1')) };
    t.strictSame(stored, keyOf());
    t.ok(Number.isInteger(createdAt));
    t.equal(await store.read.apiKey('nobody'), undefined);
    t.match(
      await store.read.apiKeyHashes(),
      new Map([
        ['hash of k2', endless],
        ['hash of k1', keyOf()],
      ]),
    );
    const limited = keyOf({ name: 'less', permissions: ['metrics:read'], rate: null, expiresAt: 5 });
    await store.write((writer) => writer.updateApiKey(limited));
    t.match((await store.read.apiKeyHashes()).get('hash of k1'), { ...limited, createdAt });
    t.equal(await store.write((writer) => writer.deleteApiKey('k1')), true);
    t.equal(await store.write((writer) => writer.deleteApiKey('k1')), false);
    t.strictSame([...(await store.read.apiKeyHashes()).keys()], ['hash of k2']);
  });

  t.test('no two keys have one hash, and lists are in pages', async (t) => {
    const store = await open(t);
    await store.write(async (writer) => {
      for (const id of ['a', 'c', 'b']) await writer.insertApiKey(keyOf({ id }), `hash of ${id}`);
    });
    await t.rejects(store.write((writer) => writer.insertApiKey(keyOf({ id: 'd' }), 'hash of a')));
    const { items, total } = await store.read.apiKeys({ page: 2, perPage: 2 });
    t.strictSame([items.map(({ id }) => id), total], [['a'], 3]);
  });
}
