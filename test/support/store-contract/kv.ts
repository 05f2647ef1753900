import type { Test } from 'tap';
import type { Json } from '../../../src/domain/json.ts';
import type { Store } from '../../../src/store/store.ts';

/** What every store keeps for plugins. */
export function kvContract(t: Test, open: (t: Test) => Promise<Store>): void {
  const set = (store: Store, key: string, value: Json, expiresAt: number | null = null) =>
    store.write((writer) => writer.kvSet('plugin', key, value, expiresAt));

  t.test('any JSON value comes back', async (t) => {
    const store = await open(t);
    const values: Json[] = [
      null,
      false,
      0,
      '',
      '\0\ud800',
      [],
      {},
      { a: [{ b: null }] },
      JSON.parse('{"__proto__":{"polluted":true}}'),
      'x'.repeat(1_000_000),
    ];
    for (const value of values) {
      await set(store, 'key', value);
      t.strictSame(JSON.stringify(await store.read.kvGet('plugin', 'key')), JSON.stringify(value));
    }
  });

  t.test('a plugin sees its own keys, exactly', async (t) => {
    const store = await open(t);
    await set(store, 'key', 1);
    t.equal(await store.read.kvGet('plugin2', 'key'), undefined);
    t.equal(await store.read.kvGet('plugin', 'KEY'), undefined);
    t.equal(await store.write((writer) => writer.kvDelete('plugin2', 'key')), false);
    t.equal(await store.write((writer) => writer.kvDelete('plugin', 'key')), true);
    t.equal(await store.write((writer) => writer.kvDelete('plugin', 'key')), false);
    t.equal(await store.read.kvGet('plugin', 'key'), undefined);
  });

  t.test('an expired value is absent, and setting it again brings the key back', async (t) => {
    const store = await open(t);
    const now = await store.now();
    await set(store, 'old', 1, now - 1000);
    await set(store, 'young', 2, now + 60_000);
    t.equal(await store.read.kvGet('plugin', 'old'), undefined);
    t.equal(await store.read.kvGet('plugin', 'young'), 2);
    t.equal(await store.write((writer) => writer.kvGet('plugin', 'old')), undefined);
    t.equal(await store.write((writer) => writer.kvDelete('plugin', 'old')), false);
    await set(store, 'old', 3);
    t.equal(await store.read.kvGet('plugin', 'old'), 3);
    await set(store, 'young', 4, now - 1000);
    t.equal(await store.read.kvGet('plugin', 'young'), undefined);
  });

  t.test('expired values are pruned in batches, and nothing else', async (t) => {
    const store = await open(t);
    const now = await store.now();
    for (let index = 0; index < 5; index += 1) await set(store, `old${index}`, index, now - 1000 - index);
    await set(store, 'young', 1, now + 60_000);
    await set(store, 'ever', 1);
    const prune = () => store.write((writer) => writer.kvPrune(3));
    t.strictSame([await prune(), await prune(), await prune()], [3, 2, 0]);
    t.equal(await store.read.kvGet('plugin', 'young'), 1);
    t.equal(await store.read.kvGet('plugin', 'ever'), 1);
  });

  t.test('200 writes at once all count', async (t) => {
    const store = await open(t);
    await set(store, 'counter', 0);
    const written = await Promise.all(
      Array.from({ length: 200 }, () =>
        store.write(async (writer) => {
          const count = ((await writer.kvGet('plugin', 'counter')) as number) + 1;
          await writer.kvSet('plugin', 'counter', count, null);
          return count;
        }),
      ),
    );
    t.equal(await store.read.kvGet('plugin', 'counter'), 200);
    t.equal(new Set(written).size, 200);
  });
}
