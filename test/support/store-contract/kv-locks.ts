import type { Test } from 'tap';
import type { KvLock } from '../../../src/features/plugins/records/kv.ts';
import type { Store, StoreWriter } from '../../../src/store/store.ts';

const A_MINUTE = 60_000;

/** Tests of the locks of plugins for every store. */
export function kvLocksContract(t: Test, open: (t: Test) => Promise<Store>): void {
  const take = (
    store: Store,
    given: Partial<Parameters<StoreWriter['kvLock']>[2]> = {},
    pluginId = 'plugin',
    name = 'key',
  ) =>
    store.write((writer) => writer.kvLock(pluginId, name, { owner: 'one', isAlone: false, forMs: A_MINUTE, ...given }));
  async function taken(...given: Parameters<typeof take>): Promise<KvLock> {
    const lock = await take(...given);
    if (lock === null) throw new Error('the lock is held');
    return lock;
  }
  const release = (store: Store, lock: KvLock, pluginId = 'plugin') =>
    store.write((writer) => writer.kvUnlock(pluginId, lock));
  const lost = (store: Store, ...locks: KvLock[]) => store.write((writer) => writer.kvLostLock('plugin', locks));

  t.test('a lock has one holder, of any instance, and is free once given back', async (t) => {
    const store = await open(t);
    const lock = await taken(store);
    t.equal(await take(store), null);
    t.equal(await take(store, { owner: 'two' }), null);
    t.equal(await lost(store, lock), undefined);
    t.equal(await release(store, lock), true);
    t.equal(await release(store, lock), false);
    t.strictSame(await lost(store, lock), lock);
    t.ok((await taken(store, { owner: 'two' })).fence > lock.fence, 'the fence rises, though no row was left');
  });

  t.test('locks of other plugins and other names are other locks, and no values', async (t) => {
    const store = await open(t);
    const one = await taken(store);
    const other = await taken(store, {}, 'plugin2');
    const named = await taken(store, {}, 'plugin', 'key2');
    t.equal(await release(store, { ...one, fence: named.fence }), false);
    t.equal(await release(store, { name: one.name, fence: other.fence + 7 }, 'plugin2'), false);
    t.equal(await lost(store, one, named), undefined);
    t.equal(await store.read.kvHas('plugin', 'key'), false);
    await store.write((writer) => writer.kvClear('plugin', ''));
    t.equal(await lost(store, one), undefined, 'clearing values takes no lock away');
  });

  t.test('a lock whose time is over is lost, whether or not somebody took it since', async (t) => {
    const store = await open(t);
    const late = await taken(store, { forMs: 0 });
    t.strictSame(await lost(store, late), late);
    const next = await taken(store);
    t.ok(next.fence > late.fence);
    t.strictSame(await lost(store, next, late), late);
    t.equal(await release(store, late), false, 'who comes late does not give back what is another’s');
    t.equal(await lost(store, next), undefined);
  });

  t.test('who has the store alone does not wait for the one before', async (t) => {
    const store = await open(t);
    const before = await taken(store, { owner: 'before' });
    t.equal(await take(store, { owner: 'before', isAlone: true }), null);
    const now = await taken(store, { owner: 'now', isAlone: true });
    t.ok(now.fence > before.fence);
    t.strictSame(await lost(store, before), before);
  });

  t.test('of many that ask at once one gets it', async (t) => {
    const store = await open(t);
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => take(store, { owner: `owner ${n}` })));
    t.equal(answers.filter((lock) => lock !== null).length, 1);
  });
}
