import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { AppError, invalidRequest } from '../../../../../src/domain/errors.ts';
import type { KeyedEffect } from '../../../../../src/domain/idempotency.ts';
import { createKvService } from '../../../../../src/features/plugins/kv.ts';
import { PluginWrites } from '../../../../../src/features/plugins/plugin-writes.ts';
import type { KvCaller, KvLock } from '../../../../../src/features/plugins/records/kv.ts';
import type { Store } from '../../../../../src/store/store.ts';
import { keyedEffect } from '../../../../support/keyed-effect.ts';
import { storeFor } from '../../../../support/store.ts';

const QUOTA = { keys: 1000, bytes: 1_000_000, valueBytes: 1000 };
const A_MINUTE = 60_000;

async function setUp(t: Test) {
  let now = 1_000_000;
  const store = await storeFor(t, { now: () => now, elapsed: () => performance.now() });
  const kv = createKvService({ store, newId: randomUUID });
  const p: KvCaller = { pluginId: 'p', quota: QUOTA, locks: [] };
  const pass = (ms: number) => {
    now += ms;
  };
  return { store, kv, p, other: { ...p, pluginId: 'other' }, signal: new AbortController().signal, pass };
}

const next = (effect: KeyedEffect, occurrence: number): KeyedEffect => ({ ...effect, occurrence });

function got(lock: KvLock | null): KvLock {
  if (lock === null) throw new Error('the lock is held');
  return lock;
}

t.test('values are kept for each plugin on its own', async (t) => {
  const { kv, p, other } = await setUp(t);
  t.equal(await kv.set(p, 'key:1', '{"n":1}'), true);
  t.equal(await kv.get('p', 'key:1'), '{"n":1}');
  t.equal(await kv.get('other', 'key:1'), null);
  t.equal(await kv.exists('p', 'key:1'), true);
  t.equal(await kv.exists('other', 'key:1'), false);
  t.equal(await kv.del(other, 'key:1'), false);
  t.equal(await kv.del(p, 'key:1'), true);
  t.equal(await kv.del(p, 'key:1'), false);
  t.equal(await kv.get('p', 'key:1'), null);
});

t.test('a positive number of seconds is a time to live, everything else means for ever', async (t) => {
  const { kv, p, pass } = await setUp(t);
  const times = [2, 0.5, 1e300, 0, -1, Number.NaN, undefined];
  await Promise.all(times.map((ttl, index) => kv.set(p, `k${index}`, '1', ttl)));
  const left = async () => (await kv.listKeys('p', '')).join(' ');
  pass(499);
  t.equal(await left(), 'k0 k1 k2 k3 k4 k5 k6');
  pass(1);
  t.equal(await left(), 'k0 k2 k3 k4 k5 k6');
  pass(1500);
  t.equal(await left(), 'k2 k3 k4 k5 k6');
});

t.test('keys are checked everywhere', async (t) => {
  const { kv, p, signal } = await setUp(t);
  for (const key of ['', 'a b', 'a/b', '../x', 'a.b', 'ä', 'x'.repeat(513), 'a\n']) {
    const refused = { code: 'INVALID_REQUEST', message: 'invalid key' };
    await t.rejects(kv.get('p', key), refused);
    await t.rejects(kv.set(p, key, '1'), refused);
    await t.rejects(kv.del(p, key), refused);
    await t.rejects(kv.exists('p', key), refused);
    await t.rejects(kv.lock(p, key, A_MINUTE, undefined, signal), refused);
    await t.rejects(kv.listKeys('p', '', key), refused);
    if (key !== '') await t.rejects(kv.listKeys('p', key), { message: 'invalid prefix' });
  }
  await t.resolves(kv.set(p, 'x'.repeat(512), '1'));
});

t.test('under one name a value is written, deleted or cleared once', async (t) => {
  const { store, kv, p, signal } = await setUp(t);
  const set = await keyedEffect(store);
  const [del, clear] = [next(set, 1), next(set, 2)];
  t.equal(await kv.set(p, 'k', '1', undefined, set), true);
  t.equal(await kv.del(p, 'k', del), true);
  t.equal(await kv.clear(p, clear, signal), 0);
  t.equal(await kv.set(p, 'k', '1', undefined, set), true);
  t.equal(await kv.get('p', 'k'), null, 'the first run has deleted it since');
  await kv.set(p, 'k', '2');
  t.equal(await kv.del(p, 'k', del), true);
  t.equal(await kv.clear(p, clear, signal), 0);
  t.equal(await kv.get('p', 'k'), '2');
});

t.test('what the quota has no room for is refused, with what is used and what is allowed', async (t) => {
  const { store, kv, p } = await setUp(t);
  const small = { ...p, quota: { keys: 2, bytes: 20, valueBytes: 10 } };
  await t.rejects(kv.set(small, 'a', `"${'x'.repeat(9)}"`), {
    code: 'INVALID_REQUEST',
    message: 'value is 11 bytes of JSON; the limit is 10 bytes (limits.kv_value_bytes)',
  });
  await kv.set(small, 'a', '1');
  await kv.set(small, 'b', '1');
  const full = {
    code: 'INVALID_REQUEST',
    message:
      'no room for this value: the plugin keeps 2 keys and may keep 2 (limits.kv_keys), and 4 bytes of 20 (limits.kv_bytes)',
  };
  await t.rejects(kv.set(small, 'c', '1'), full);
  const effect = await keyedEffect(store);
  await t.rejects(kv.set(small, 'c', '1', undefined, effect), full);
  await kv.del(small, 'a');
  t.equal(await kv.set(small, 'c', '1', undefined, effect), true, 'a refusal is no effect');
  await kv.set(p, 'c', '2');
  t.equal(await kv.get('p', 'c'), '2', 'a larger quota');
});

t.test('expired values make room, however many there are', async (t) => {
  const { kv, p, pass } = await setUp(t);
  const quota = { ...p, quota: { keys: 250, bytes: 100_000, valueBytes: 100 } };
  await Promise.all(Array.from({ length: 250 }, (_, index) => kv.set(quota, `old${index}`, '1', 1)));
  await t.rejects(kv.set(quota, 'new', '1'), /keeps 250 keys/);
  pass(1000);
  const large = { ...p, quota: { keys: 250, bytes: 60, valueBytes: 100 } };
  t.equal(await kv.set(large, 'new', `"${'x'.repeat(50)}"`), true);
});

t.test('all keys of a plugin are cleared, and no lock', async (t) => {
  const { kv, p, other, signal } = await setUp(t);
  await Promise.all(Array.from({ length: 600 }, (_, index) => kv.set(p, `k${index}`, '1')));
  await kv.set(other, 'k', '1');
  const lock = got(await kv.lock(p, 'lock', A_MINUTE, undefined, signal));
  t.equal(await kv.clear(p, undefined, signal), 600);
  t.equal(await kv.get('other', 'k'), '1');
  t.equal(await kv.unlock('p', lock), true);
  await t.rejects(kv.clear(p, undefined, AbortSignal.abort()), { name: 'AbortError' });
});

t.test('what is written under a lock needs it held', async (t) => {
  const { kv, p, other, signal, pass, store } = await setUp(t);
  const lock = got(await kv.lock(p, 'lock', 1000, undefined, signal));
  t.equal(await kv.lock(p, 'lock', 1000, undefined, signal), null);
  t.ok(await kv.lock(other, 'lock', 1000, undefined, signal), 'locks of two plugins never meet');
  const holder = { ...p, locks: [lock] };
  t.equal(await kv.set(holder, 'k', '1'), true);
  t.equal(await kv.del(holder, 'k'), true);
  await kv.set(holder, 'k', '1');
  pass(1000);
  const lost = {
    code: 'INVALID_REQUEST',
    message: 'lock lost: the time of lock lock was over before this write, so it was not made',
  };
  const effect = await keyedEffect(store);
  const assertRefused = async () => {
    await t.rejects(kv.set(holder, 'k', '2'), lost);
    await t.rejects(kv.set(holder, 'k', '2', undefined, effect), lost);
    await t.rejects(kv.del(holder, 'k'), lost);
    await t.rejects(kv.clear(holder, undefined, signal), lost);
  };
  await assertRefused();
  const taken = got(await kv.lock(p, 'lock', 1000, undefined, signal));
  t.ok(taken.fence > lock.fence);
  await assertRefused();
  t.equal(await kv.unlock('p', lock), false);
  t.equal(await kv.set({ ...p, locks: [taken] }, 'k', '3'), true);
  t.equal(await kv.set(p, 'k', '4'), true, 'a lock stops nobody who does not ask for it');
});

t.test('a rerun of a keyed call is told what its first run was told, and has the lock again', async (t) => {
  const { store, kv, p, signal } = await setUp(t);
  const first = await keyedEffect(store);
  const lock = got(await kv.lock(p, 'lock', A_MINUTE, first, signal));
  const busy = await kv.lock(p, 'lock', A_MINUTE, next(first, 1), signal);
  t.equal(busy, null);
  await kv.set({ ...p, locks: [lock] }, 'n', '1', undefined, next(first, 2));
  await kv.unlock('p', lock);

  t.equal(await kv.lock(p, 'lock', A_MINUTE, next(first, 1), signal), null, 'busy stays busy, though it is free');
  const again = got(await kv.lock(p, 'lock', A_MINUTE, first, signal));
  t.ok(again.fence > lock.fence);
  t.equal(await kv.set({ ...p, locks: [lock] }, 'n', '1', undefined, next(first, 2)), true, 'what happened stands');
  await t.rejects(kv.set({ ...p, locks: [lock] }, 'n', '2', undefined, next(first, 3)), /lock lost/);
  await t.resolves(kv.set({ ...p, locks: [again] }, 'n', '2', undefined, next(first, 3)));
});

t.test('locks alone leave the key of a request free', async (t) => {
  const { store, kv, p, signal } = await setUp(t);
  const first = await keyedEffect(store);
  await kv.lock(p, 'lock', A_MINUTE, first, signal);
  await kv.lock(p, 'lock', A_MINUTE, next(first, 1), signal);
  await store.write((writer) => writer.leaveKey(first.claim));
  t.strictSame(await store.read.effectNames(first.claim.id), []);
});

t.test('a rerun waits for a lock that another call has, and not for ever', async (t) => {
  const { store, kv, p, signal } = await setUp(t);
  const first = await keyedEffect(store);
  await kv.unlock('p', got(await kv.lock(p, 'lock', A_MINUTE, first, signal)));
  const taken = got(await kv.lock(p, 'lock', A_MINUTE, undefined, signal));
  const waiting = kv.lock(p, 'lock', A_MINUTE, first, signal);
  await kv.set(p, 'meanwhile', '1');
  await kv.unlock('p', taken);
  const lock = got(await waiting);

  const leaving = new AbortController();
  const left = kv.lock(p, 'lock', A_MINUTE, first, leaving.signal);
  leaving.abort();
  await t.rejects(left, { name: 'AbortError' });
  await t.rejects(kv.lock(p, 'lock', A_MINUTE, first, signal), { code: 'LOCK_HELD_ELSEWHERE', status: 503 });
  t.equal(await kv.unlock('p', lock), true);
});

t.test('a service that starts alone finds no lock of the one before, one that shares its store does', async (t) => {
  const { store, kv, p, signal } = await setUp(t);
  await kv.lock(p, 'lock', A_MINUTE, undefined, signal);
  const shared: Store = { ...store, leases: { ...store.leases, lastsMs: 1000 } };
  const beside = createKvService({ store: shared, newId: randomUUID });
  t.equal(await beside.lock(p, 'lock', A_MINUTE, undefined, signal), null);
  const restarted = createKvService({ store, newId: randomUUID });
  t.ok(await restarted.lock(p, 'lock', A_MINUTE, undefined, signal));
});

t.test('100 that count under one lock lose no count', async (t) => {
  const { kv, p, signal } = await setUp(t);
  let busy = 0;
  const count = async () => {
    for (let tries = 0; tries < 10_000; tries += 1) {
      const lock = await kv.lock(p, 'lock', A_MINUTE, undefined, signal);
      if (lock === null) {
        busy += 1;
        continue;
      }
      const value = Number((await kv.get('p', 'count')) ?? 0);
      await kv.set({ ...p, locks: [lock] }, 'count', String(value + 1));
      await kv.unlock('p', lock);
      return;
    }
    throw new Error('never came to its turn');
  };
  await Promise.all(Array.from({ length: 100 }, count));
  t.equal(await kv.get('p', 'count'), '100');
  t.ok(busy > 0);
});

/** A store that counts its commits. */
function counted(store: Store): { store: Store; commits: () => number } {
  let commits = 0;
  const write: Store['write'] = (body) => {
    commits += 1;
    return store.write(body);
  };
  return { store: { ...store, write }, commits: () => commits };
}

t.test('writes of a plugin keep their order, and share commits', async (t) => {
  const { store, commits } = counted(await storeFor(t));
  const writes = new PluginWrites(store);
  const order: number[] = [];
  await Promise.all(
    Array.from({ length: 65 }, (_, index) =>
      writes.run('p', 10, async (writer) => {
        order.push(index);
        await writer.kvSet('p', 'last', String(index));
      }),
    ),
  );
  t.strictSame(order, [...order.keys()]);
  t.equal(await store.read.kvGet('p', 'last'), '64');
  t.ok(commits() >= 3 && commits() < 6, `${commits()} commits: 32 share one`);
});

t.test('large writes share none', async (t) => {
  const { store, commits } = counted(await storeFor(t));
  const writes = new PluginWrites(store);
  await Promise.all([1, 2, 3].map((n) => writes.run('p', 200_000, (writer) => writer.kvSet('p', 'k', String(n)))));
  t.equal(commits(), 3);
});

t.test('what is done alone keeps its place among the others', async (t) => {
  const { store } = counted(await storeFor(t));
  const writes = new PluginWrites(store);
  const order: string[] = [];
  const note = (name: string) => async () => {
    order.push(name);
    return name;
  };
  const ended = await Promise.all([
    writes.run('p', 0, note('one')),
    writes.run('p', 0, note('two')),
    writes.runAlone('p', note('alone')),
    writes.run('p', 0, note('three')),
  ]);
  t.strictSame(order, ['one', 'two', 'alone', 'three']);
  t.strictSame(ended, order);
});

t.test('a flood of one plugin stands behind itself', async (t) => {
  const { store } = counted(await storeFor(t));
  const writes = new PluginWrites(store);
  let flooded = 0;
  const flood = Array.from({ length: 2000 }, () =>
    writes
      .run('flood', 10, (writer) => writer.kvSet('flood', 'k', '1'))
      .then(() => {
        flooded += 1;
      }),
  );
  await writes.run('calm', 10, (writer) => writer.kvSet('calm', 'k', '1'));
  t.ok(flooded < 1000, `${flooded} of 2000 came first`);
  await Promise.all(flood);
});

t.test('a refusal is its own, a fault is everybody’s in its commit', async (t) => {
  const store = await storeFor(t);
  const writes = new PluginWrites(store);
  const set = (key: string) => writes.run('p', 0, (writer) => writer.kvSet('p', key, '1'));
  const first = set('first');
  const refused = writes.run('p', 0, () => Promise.reject(invalidRequest('no')));
  const [, refusal, second] = await Promise.allSettled([first, refused, set('second')]);
  t.match(refusal, { status: 'rejected', reason: { message: 'no' } });
  t.match(second, { status: 'fulfilled' });
  t.equal(await store.read.kvHas('p', 'second'), true);

  for (const fault of [new Error('broken'), new AppError('UNAVAILABLE', { reason: 'gone' })]) {
    const before = set('before');
    const [broken, beside] = await Promise.allSettled([
      writes.run('p', 0, () => Promise.reject(fault)),
      set('beside'),
      before,
    ]);
    t.match(broken, { status: 'rejected', reason: fault });
    t.match(beside, { status: 'rejected', reason: fault });
    t.equal(await store.read.kvHas('p', 'beside'), false);
  }
  await t.resolves(set('after'), 'and the line goes on');
  await t.rejects(
    writes.runAlone('p', () => Promise.reject(new Error('mine'))),
    { message: 'mine' },
  );
  await t.resolves(set('after'));
});
