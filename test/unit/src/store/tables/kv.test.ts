import { DatabaseSync } from 'node:sqlite';
import t, { type Test } from 'tap';
import { storeFor, temporaryStore } from '../../../../support/store.ts';

t.test('the moment of expiry is the clock of the store', async (t) => {
  let now = 1000;
  const store = await storeFor(t, { now: () => now, elapsed: () => performance.now() });
  await store.write((writer) => writer.kvSet('plugin', 'key', '1', { forMs: 1000 }));
  now = 1999;
  t.equal(await store.read.kvGet('plugin', 'key'), '1');
  now = 2000;
  t.equal(await store.read.kvGet('plugin', 'key'), undefined);
});

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

t.test('kv usage', async (t) => {
  /** A store with two kept values, and a function that spoils its counts. */
  async function open(t: Test) {
    let now = 1_000_000_000;
    const { store, path, remove } = await temporaryStore({ now: () => now, elapsed: () => performance.now() });
    t.teardown(remove);
    await store.write((writer) => writer.kvSet('plugin', 'a', '1'));
    await store.write((writer) => writer.kvSet('plugin', 'b', '22'));
    return {
      store,
      /** Runs a statement on the file, as an older version or a manual edit could have. */
      spoil(statement: string) {
        const database = new DatabaseSync(path);
        database.exec(statement);
        database.close();
      },
      pass(ms: number) {
        now += ms;
      },
    };
  }

  t.test('a plugin without counters is counted from its values', async (t) => {
    const { store, spoil } = await open(t);
    const usage = { keys: 2, bytes: 5 };
    t.strictSame(await store.read.kvUsage('plugin'), usage);
    spoil('delete from plugin_kv_usage');
    t.strictSame(await store.read.kvUsage('plugin'), usage);
    const quota = { keys: 2, bytes: 100, valueBytes: 100 };
    t.strictSame(await store.write((writer) => writer.kvSet('plugin', 'c', '1', { quota })), usage);
    t.equal(await store.write((writer) => writer.kvSet('plugin', 'a', '111', { quota })), undefined);
    t.strictSame(await store.read.kvUsage('plugin'), { keys: 2, bytes: 7 });

    spoil('delete from plugin_kv_usage');
    t.equal(await store.write((writer) => writer.kvDelete('plugin', 'a')), true);
    t.strictSame(await store.read.kvUsage('plugin'), { keys: 1, bytes: 3 });
  });

  t.test('a count that refuses is counted anew, at most once an hour', async (t) => {
    const { store, spoil, pass } = await open(t);
    spoil('update plugin_kv_usage set keys = 50');
    const quota = { keys: 3, bytes: 100, valueBytes: 100 };
    const set = () => store.write((writer) => writer.kvSet('plugin', 'c', '1', { quota }));
    const reclaim = () => store.write((writer) => writer.kvReclaim('plugin', 10));
    t.strictSame(await set(), { keys: 50, bytes: 5 });
    t.equal(await reclaim(), false, 'it was counted just now');
    pass(3_600_001);
    t.equal(await reclaim(), true);
    t.equal(await set(), undefined);
    pass(3_600_001);
    t.equal(await reclaim(), false, 'and is right');
  });

  t.test('fences rise over all locks of a plugin', async (t) => {
    const { store, spoil } = await open(t);
    const fence = async (name: string) =>
      (await store.write((writer) => writer.kvLock('plugin', name, { owner: 'o', isAlone: false, forMs: 1000 })))
        ?.fence;
    t.strictSame([await fence('a'), await fence('b')], [1, 2]);
    spoil("delete from plugin_kv_usage where plugin_id = 'other'");
    t.equal(await fence('c'), 3);
  });
});
