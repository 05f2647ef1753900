import t from 'tap';
import type { Json } from '../../../../src/domain/json.ts';
import { createKvService } from '../../../../src/services/kv.ts';
import { EngineWorld } from '../../../support/engine-world.ts';
import { keyedEffect } from '../../../support/keyed-effect.ts';

t.test('values are kept for each plugin on its own', async (t) => {
  const { store } = await EngineWorld.open(t);
  const kv = createKvService(store);
  t.equal(await kv.set('p', 'key:1', { n: 1 }), true);
  t.strictSame(await kv.get('p', 'key:1'), { n: 1 });
  t.equal(await kv.get('other', 'key:1'), null);
  t.equal(await kv.exists('p', 'key:1'), true);
  t.equal(await kv.exists('other', 'key:1'), false);
  t.equal(await kv.del('other', 'key:1'), false);
  t.equal(await kv.del('p', 'key:1'), true);
  t.equal(await kv.del('p', 'key:1'), false);
  t.equal(await kv.get('p', 'key:1'), null);
});

t.test('a stored null is there', async (t) => {
  const { store } = await EngineWorld.open(t);
  const kv = createKvService(store);
  await kv.set('p', 'k', null);
  t.equal(await kv.get('p', 'k'), null);
  t.equal(await kv.exists('p', 'k'), true);
});

t.test('whole positive seconds are a time to live, everything else means for ever', async (t) => {
  const { store } = await EngineWorld.open(t);
  const expiries: (number | null)[] = [];
  const kv = createKvService({
    ...store,
    now: async () => 1_000,
    write: (body) =>
      store.write((writer) =>
        body({
          ...writer,
          kvSet: async (_plugin, _key, _value, expiresAt) => {
            expiries.push(expiresAt);
          },
        }),
      ),
  });
  for (const ttl of [2, 2.9, 0, -1, 0.5, Number.NaN, undefined]) {
    await (ttl === undefined ? kv.set('p', 'k', 1) : kv.set('p', 'k', 1, ttl));
  }
  t.strictSame(expiries, [3_000, 3_000, null, null, null, null, null]);
});

t.test('keys are checked everywhere', async (t) => {
  const { store } = await EngineWorld.open(t);
  const kv = createKvService(store);
  for (const key of ['', 'a b', 'a/b', '../x', 'a.b', 'ä', 'x'.repeat(513), 'a\n']) {
    const refused = { code: 'INVALID_REQUEST', message: 'invalid key' };
    await t.rejects(kv.get('p', key), refused);
    await t.rejects(kv.set('p', key, 1), refused);
    await t.rejects(kv.del('p', key), refused);
    await t.rejects(kv.exists('p', key), refused);
  }
  await t.resolves(kv.set('p', 'x'.repeat(512), 1));
});

t.test('undefined is no value', async (t) => {
  const { store } = await EngineWorld.open(t);
  const kv = createKvService(store);
  await t.rejects(kv.set('p', 'k', undefined as unknown as Json), { message: 'value must not be undefined' });
});

t.test('under one name a value is written or deleted once', async (t) => {
  const { store } = await EngineWorld.open(t);
  const kv = createKvService(store);
  const set = await keyedEffect(store);
  const del = { ...set, ordinal: 1 };
  t.equal(await kv.set('p', 'k', 1, undefined, set), true);
  t.equal(await kv.del('p', 'k', del), true);
  t.equal(await kv.set('p', 'k', 1, undefined, set), true);
  t.equal(await kv.get('p', 'k'), null, 'the first run has deleted it since');
  await kv.set('p', 'k', 2);
  t.equal(await kv.del('p', 'k', del), true);
  t.equal(await kv.get('p', 'k'), 2);
});
