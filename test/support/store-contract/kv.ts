import type { Test } from 'tap';
import type { KvQuota } from '../../../src/features/plugins/records/kv.ts';
import type { Store } from '../../../src/store/store.ts';

const A_MINUTE = 60_000;
/** A lifetime in the past, for a value that has expired. */
const LONG_AGO = { forMs: -1000 };

/** Tests of the values of plugins for every store. */
export function kvContract(t: Test, open: (t: Test) => Promise<Store>): void {
  const set = (store: Store, key: string, json: string, options: { forMs?: number; quota?: KvQuota } = {}) =>
    store.write((writer) => writer.kvSet('plugin', key, json, options));
  const del = (store: Store, key: string, pluginId = 'plugin') =>
    store.write((writer) => writer.kvDelete(pluginId, key));

  t.test('a text comes back as it is', async (t) => {
    const store = await open(t);
    const texts = [
      'null',
      '""',
      '{"a":[{"b":null}]}',
      '{"__proto__":1}',
      '"\\u0000\\ud800ü€😀"',
      `"${'x'.repeat(1_000_000)}"`,
    ];
    for (const text of texts) {
      t.equal(await set(store, 'key', text), undefined);
      t.equal(await store.read.kvGet('plugin', 'key'), text);
      t.equal(await store.read.kvHas('plugin', 'key'), true);
    }
  });

  t.test('a plugin sees its own keys, exactly', async (t) => {
    const store = await open(t);
    await set(store, 'key', '1');
    t.equal(await store.read.kvGet('plugin2', 'key'), undefined);
    t.equal(await store.read.kvHas('plugin2', 'key'), false);
    t.equal(await store.read.kvGet('plugin', 'KEY'), undefined);
    t.equal(await del(store, 'key', 'plugin2'), false);
    t.equal(await del(store, 'key'), true);
    t.equal(await del(store, 'key'), false);
    t.equal(await store.read.kvGet('plugin', 'key'), undefined);
  });

  t.test('an expired value is absent, and setting it again brings the key back', async (t) => {
    const store = await open(t);
    await set(store, 'old', '1', LONG_AGO);
    await set(store, 'young', '2', { forMs: A_MINUTE });
    t.equal(await store.read.kvGet('plugin', 'old'), undefined);
    t.equal(await store.read.kvHas('plugin', 'old'), false);
    t.equal(await store.read.kvGet('plugin', 'young'), '2');
    t.equal(await store.write((writer) => writer.kvGet('plugin', 'old')), undefined);
    t.equal(await del(store, 'old'), false);
    await set(store, 'old', '3');
    t.equal(await store.read.kvGet('plugin', 'old'), '3');
    await set(store, 'young', '4', LONG_AGO);
    t.equal(await store.read.kvGet('plugin', 'young'), undefined);
    t.strictSame(await store.read.kvUsage('plugin'), { keys: 2, bytes: 'old3young4'.length });
  });

  t.test('expired values and locks are pruned in batches, and nothing else', async (t) => {
    const store = await open(t);
    for (let index = 0; index < 5; index += 1) await set(store, `old${index}`, '1', { forMs: -1000 - index });
    await set(store, 'young', '1', { forMs: A_MINUTE });
    await set(store, 'ever', '1');
    const lock = (name: string, forMs: number) =>
      store.write((writer) => writer.kvLock('plugin', name, { owner: 'one', isAlone: false, forMs }));
    await lock('over', 0);
    await lock('held', A_MINUTE);
    const prune = () => store.write((writer) => writer.kvPrune(4));
    t.strictSame([await prune(), await prune(), await prune()], [4, 2, 0]);
    t.equal(await store.read.kvGet('plugin', 'young'), '1');
    t.equal(await store.read.kvGet('plugin', 'ever'), '1');
    t.strictSame(await store.read.kvUsage('plugin'), { keys: 2, bytes: 'young1ever1'.length });
    t.equal(await lock('held', 1), null);
  });

  t.test('200 writes at once all count', async (t) => {
    const store = await open(t);
    await set(store, 'counter', '0');
    const written = await Promise.all(
      Array.from({ length: 200 }, () =>
        store.write(async (writer) => {
          const count = Number(await writer.kvGet('plugin', 'counter')) + 1;
          await writer.kvSet('plugin', 'counter', String(count));
          return count;
        }),
      ),
    );
    t.equal(await store.read.kvGet('plugin', 'counter'), '200');
    t.equal(new Set(written).size, 200);
  });

  t.test('keys are listed in pages, by prefix, without expired ones', async (t) => {
    const store = await open(t);
    for (const key of ['a', 'a:1', 'a:2', 'aZ', 'a_', 'b', 'z'.repeat(512)]) await set(store, key, '1');
    await set(store, 'a:0', '1', LONG_AGO);
    await store.write((writer) => writer.kvSet('plugin2', 'a:3', '1'));
    const keys = (prefix: string, after?: string, limit = 10) => store.read.kvKeys('plugin', { prefix, after, limit });
    t.strictSame(await keys(''), ['a', 'a:1', 'a:2', 'aZ', 'a_', 'b', 'z'.repeat(512)]);
    t.strictSame(await keys('', undefined, 2), ['a', 'a:1']);
    t.strictSame(await keys('', 'a:1', 2), ['a:2', 'aZ']);
    t.strictSame(await keys('a:'), ['a:1', 'a:2']);
    t.strictSame(await keys('a:', 'a:1'), ['a:2']);
    t.strictSame(await keys('a:', 'a'), ['a:1', 'a:2'], 'a cursor before the prefix');
    t.strictSame(await keys('a:', 'b'), [], 'and one after it');
    t.strictSame(await keys('c'), []);
  });

  t.test('a plugin is cleared step by step, with what has expired, and no other', async (t) => {
    const store = await open(t);
    await store.write(async (writer) => {
      for (let index = 0; index < 700; index += 1) await writer.kvSet('plugin', `key${index}`, '1');
      await writer.kvSet('plugin', 'old', '1', LONG_AGO);
      await writer.kvSet('plugin2', 'key', '1');
    });
    let cleared = 0;
    let steps = 0;
    for (let upTo: string | undefined = ''; upTo !== undefined && steps < 10; steps += 1) {
      const after: string = upTo;
      const step = await store.write((writer) => writer.kvClear('plugin', after));
      cleared += step.live;
      upTo = step.upTo;
    }
    t.strictSame([cleared, steps], [700, 2]);
    t.strictSame(await store.read.kvUsage('plugin'), { keys: 0, bytes: 0 });
    t.equal(await store.read.kvGet('plugin2', 'key'), '1');

    const large = `"${'x'.repeat(1_500_000)}"`;
    for (const key of ['a', 'b', 'c']) await set(store, key, large);
    t.strictSame(await store.write((writer) => writer.kvClear('plugin', '')), { live: 2, upTo: 'b' }, 'few large ones');
    t.strictSame(await store.write((writer) => writer.kvClear('plugin', 'b')), { live: 1, upTo: undefined });
    t.strictSame(await store.write((writer) => writer.kvClear('plugin', '')), { live: 0, upTo: undefined });
  });

  t.test('a plugin keeps as many keys and bytes as it may, and can always shrink', async (t) => {
    const store = await open(t);
    const quota = { keys: 2, bytes: 12, valueBytes: 100 };
    t.equal(await set(store, 'a', '12', { quota }), undefined);
    t.equal(await set(store, 'b', '12', { quota }), undefined);
    t.strictSame(await set(store, 'c', '1', { quota }), { keys: 2, bytes: 6 }, 'no further key');
    t.equal(await store.read.kvHas('plugin', 'c'), false);
    t.strictSame(await set(store, 'a', '123456789', { quota }), { keys: 2, bytes: 6 }, 'no more bytes');
    t.equal(await set(store, 'a', '12345678', { quota }), undefined, 'up to the limit');
    t.strictSame(await set(store, 'b', '"ü"', { quota }), { keys: 2, bytes: 12 }, 'bytes, not characters');
    const lowered = { keys: 1, bytes: 3, valueBytes: 100 };
    t.equal(await set(store, 'a', '87654321', { quota: lowered }), undefined, 'as large as before');
    t.equal(await set(store, 'a', '1', { quota: lowered }), undefined, 'smaller');
    t.strictSame(await set(store, 'a', '12', { quota: lowered }), { keys: 2, bytes: 5 });
    t.equal(await del(store, 'b'), true);
    t.equal(await set(store, 'a', '12', { quota: lowered }), undefined);
    t.strictSame(await store.read.kvUsage('plugin'), { keys: 1, bytes: 3 });
    t.strictSame(await store.read.kvUsage('plugin2'), { keys: 0, bytes: 0 });
  });

  t.test('expired values give their room back when it is asked for', async (t) => {
    const store = await open(t);
    const quota = { keys: 3, bytes: 100, valueBytes: 100 };
    for (const key of ['a', 'b', 'c']) await set(store, key, '1', { ...LONG_AGO, quota });
    await store.write((writer) => writer.kvSet('plugin2', 'x', '1', LONG_AGO));
    t.strictSame(await set(store, 'd', '1', { quota }), { keys: 3, bytes: 6 });
    const reclaim = (limit: number) => store.write((writer) => writer.kvReclaim('plugin', limit));
    t.strictSame([await reclaim(2), await reclaim(2), await reclaim(2)], [true, true, false]);
    t.equal(await set(store, 'd', '1', { quota }), undefined);
    t.strictSame(await store.read.kvUsage('plugin'), { keys: 1, bytes: 2 });
    t.strictSame(await store.read.kvUsage('plugin2'), { keys: 1, bytes: 2 }, 'another plugin’s stay');
  });

  t.test('however many write at once, the quota holds and the count is that of the values', async (t) => {
    const store = await open(t);
    const quota = { keys: 10, bytes: 1000, valueBytes: 100 };
    const refused = await Promise.all(
      Array.from({ length: 20 }, (_, index) => set(store, `key${index}`, `${index}`, { quota })),
    );
    t.equal(refused.filter((used) => used === undefined).length, 10);
    const before = await store.read.kvKeys('plugin', { prefix: '', limit: 100 });
    t.equal(before.length, 10);
    await Promise.all([
      ...before
        .slice(0, 6)
        .flatMap((key) => [del(store, key), set(store, key, '"longer"', { quota }), del(store, key)]),
      store.write((writer) => writer.kvClear('plugin2', '')),
      ...Array.from({ length: 10 }, (_, index) => set(store, `other${index}`, '1', { ...LONG_AGO, quota })),
    ]);
    const { keys, bytes } = await store.read.kvUsage('plugin');
    t.ok(keys <= 10, `${keys} keys`);
    let [livingKeys, livingBytes] = [0, 0];
    for (const key of await store.read.kvKeys('plugin', { prefix: '', limit: 100 })) {
      livingKeys += 1;
      livingBytes += key.length + ((await store.read.kvGet('plugin', key))?.length ?? 0);
    }
    await store.write((writer) => writer.kvPrune(100));
    t.strictSame(await store.read.kvUsage('plugin'), { keys: livingKeys, bytes: livingBytes });
    t.ok(bytes >= livingBytes);
  });
}
