import { randomBytes } from 'node:crypto';
import t, { type Test } from 'tap';
import { apiKeyResource, hashOfKey } from '../../../../../src/features/api-keys/api-keys.ts';
import { Access, FULL_ACCESS } from '../../../../../src/features/api-keys/records/access.ts';
import type { Caller } from '../../../../../src/features/api-keys/records/caller.ts';
import { OPERATOR, operatorOnce } from '../../../../support/caller.ts';
import { keyedEffect } from '../../../../support/keyed-effect.ts';
import { storeFor } from '../../../../support/store.ts';

const BODY = { name: 'Payments', permissions: ['relayers:a:send'] };
const PAGE = { page: 1, perPage: 10 };

async function stage(t: Test) {
  const store = await storeFor(t);
  const told: string[] = [];
  const made = apiKeyResource.open({
    store,
    randomBytes,
    startedAt: 0,
    newId: () => crypto.randomUUID(),
    feed: { changed: async (kind) => void told.push(kind) },
  });
  const service = {
    ...made,
    permissions: async (id: string) => (await made.get(id))['permissions'],
    update: (id: string, body: unknown, by: Caller, access: Access) => made.update(id, body, { ...by, access }),
    revoke: (id: string, by: Caller, access: Access) => made.remove(id, { ...by, access }),
  };
  const create = (body: unknown, by = OPERATOR, access = FULL_ACCESS) => made.create(body, { ...by, access });
  return { store, service, create, told };
}

t.test('a key is shown once, and only its hash is kept', async (t) => {
  const { store, service, create, told } = await stage(t);
  const { key, ...view } = await create({
    ...BODY,
    allowed_origins: ['https://app.example'],
    expires_at: '2999-01-01T00:00:00Z',
    rate_limit: { requests_per_second: 5, burst: 10 },
  });
  t.match(key, /^iso_[\w-]{43}$/);
  t.match(view, {
    name: 'Payments',
    allowed_origins: ['https://app.example'],
    permissions: ['relayers:a:send'],
    rate_limit: { requests_per_second: 5, burst: 10 },
    expires_at: '2999-01-01T00:00:00.000+00:00',
  });
  t.strictSame(told, ['api_key']);
  const id = String(view['id']);
  t.strictSame(await service.get(id), view);
  t.strictSame(await service.permissions(id), ['relayers:a:send']);
  t.match((await store.read.apiKeyHashes()).get(hashOfKey(String(key))), { id });
  const audit = await store.read.auditRecords({ before: null, limit: 10 }, { resource: 'api_key' });
  t.match(audit.items, [{ action: 'create', resourceId: id, before: null, after: { name: 'Payments' } }]);
  t.notMatch(JSON.stringify([audit, await service.list(PAGE)]), String(key));
});

t.test('that of the environment is the last of the list, and stays', async (t) => {
  const { service, create } = await stage(t);
  const only = { id: 'default', name: 'default', permissions: ['*'], allowed_origins: ['*'], expires_at: null };
  t.match(await service.list(PAGE), { items: [only], total: 1 });
  for (let n = 0; n < 3; n += 1) await create(BODY);
  const ids: unknown[] = [];
  for (const page of [1, 2, 3]) {
    const { items, total } = await service.list({ page, perPage: 2 });
    t.equal(total, 4);
    ids.push(...items.map(({ id }) => id));
  }
  t.equal(ids.length, 4);
  t.equal(ids.at(-1), 'default');
  t.match(await service.get('default'), only);
  t.strictSame(await service.permissions('default'), ['*']);
  await t.rejects(service.revoke('default', OPERATOR, FULL_ACCESS), { code: 'INVALID_REQUEST' });
});

t.test('who asks sees their own key as it was made, until it is revoked', async (t) => {
  const { service, create } = await stage(t);
  const { key, ...view } = await create(BODY);
  const id = String(view['id']);
  t.strictSame(await service.get(id), view);
  t.notMatch(JSON.stringify(await service.get(id)), String(key));
  await service.revoke(id, OPERATOR, FULL_ACCESS);
  await t.rejects(service.get(id), { code: 'API_KEY_NOT_FOUND' });
});

t.test('nobody grants what they do not have, and nothing is granted in the past', async (t) => {
  const { create, store } = await stage(t);
  const some = new Access(['api-keys:write', 'relayers:a:*']);
  t.match(await create(BODY, OPERATOR, some), { permissions: ['relayers:a:send'] });
  await t.rejects(create({ ...BODY, permissions: ['relayers:a:send', 'signers:read'] }, OPERATOR, some), {
    code: 'PERMISSION_NOT_HELD',
    status: 403,
    message: 'The API key cannot grant signers:read or take it away: it does not have that itself',
  });
  await t.rejects(create({ ...BODY, expires_at: '2001-01-01T00:00:00Z' }), { message: 'expires_at: is in the past' });
  await t.rejects(create({ ...BODY, permission: [] }), { message: /^unknown field `permission`, did you mean/ });
  t.equal((await store.read.apiKeyHashes()).size, 1);
});

t.test('a revoked key is gone', async (t) => {
  const { service, create, store, told } = await stage(t);
  const id = String((await create(BODY))['id']);
  await service.revoke(id, OPERATOR, FULL_ACCESS);
  t.equal((await store.read.apiKeyHashes()).size, 0);
  t.strictSame(told, ['api_key', 'api_key']);
  const asked: Promise<unknown>[] = [
    service.get(id),
    service.permissions(id),
    service.revoke(id, OPERATOR, FULL_ACCESS),
  ];
  for (const ask of asked) {
    await t.rejects(ask, { code: 'API_KEY_NOT_FOUND', message: `Api key with id ${id} not found` });
  }
});

t.test('a key that may do more than its caller is neither revoked nor limited by that', async (t) => {
  const { service, create } = await stage(t);
  const id = String((await create(BODY))['id']);
  const weaker = new Access(['api-keys:write', 'relayers:a:read']);
  const held = { code: 'PERMISSION_NOT_HELD', message: /relayers:a:send/ };
  await t.rejects(service.revoke(id, OPERATOR, weaker), held);
  await t.rejects(service.update(id, { permissions: ['relayers:a:read'] }, OPERATOR, weaker), held);
  t.strictSame(await service.permissions(id), ['relayers:a:send']);
  await service.revoke(id, OPERATOR, new Access(['api-keys:write', 'relayers:a:send']));
});

t.test('a permission that is known no more keeps nobody who may do everything from the key', async (t) => {
  const { service, store } = await stage(t);
  const stored = {
    name: 'Old',
    permissions: ['relayers:a:teleport'],
    allowedOrigins: ['*'],
    rate: null,
    expiresAt: null,
    ancestors: [],
  };
  for (const id of ['one', 'two']) await store.write((writer) => writer.insertApiKey({ ...stored, id }, hashOfKey(id)));
  await t.rejects(service.revoke('one', OPERATOR, new Access(['api-keys:write', 'relayers:*:*'])), {
    code: 'PERMISSION_NOT_HELD',
  });
  t.match(await service.update('one', BODY, OPERATOR, FULL_ACCESS), BODY);
  await service.revoke('two', OPERATOR, FULL_ACCESS);
  await t.rejects(service.get('two'), { code: 'API_KEY_NOT_FOUND' });
});

t.test('under one name one key is made, and nobody is given it twice', async (t) => {
  const { service, create, store } = await stage(t);
  const effect = await keyedEffect(store);
  const made = await create(BODY, operatorOnce(effect));
  await t.rejects(create(BODY, operatorOnce(effect)), { code: 'ANSWER_NOT_KEPT' });
  t.equal((await store.read.apiKeyHashes()).size, 1);
  const revoke = operatorOnce({ ...effect, occurrence: 1 });
  await service.revoke(String(made['id']), revoke, FULL_ACCESS);
  await service.revoke(String(made['id']), revoke, FULL_ACCESS);
});

t.test('a key is limited and widened by who has what it then may do; what is absent stays', async (t) => {
  const { store, service, create, told } = await stage(t);
  const rate_limit = { requests_per_second: 5, burst: 10 };
  const { key, ...made } = await create({ ...BODY, expires_at: '2999-01-01T00:00:00Z', rate_limit });
  const id = String(made['id']);
  const update = (body: unknown, access = FULL_ACCESS) => service.update(id, body, OPERATOR, access);
  t.strictSame(await update({}), made);
  t.strictSame(await update({ permissions: ['relayers:a:read'] }), { ...made, permissions: ['relayers:a:read'] });
  t.match((await store.read.apiKeyHashes()).get(hashOfKey(String(key))), { permissions: ['relayers:a:read'] });
  t.match(await update({ rate_limit: null, expires_at: null, name: 'x' }), {
    name: 'x',
    rate_limit: null,
    expires_at: null,
    permissions: ['relayers:a:read'],
  });
  const weaker = new Access(['relayers:a:read', 'api-keys:write']);
  await t.rejects(update({ permissions: ['relayers:a:send'] }, weaker), { code: 'PERMISSION_NOT_HELD' });
  await t.rejects(update({ name: 'y' }, new Access(['api-keys:write'])), { code: 'PERMISSION_NOT_HELD' });
  t.match(await update({ rate_limit }, weaker), { rate_limit });
  await t.rejects(update({ expires_at: '2001-01-01T00:00:00Z' }), { code: 'INVALID_REQUEST' });
  await t.rejects(update({ permission: [] }), { code: 'INVALID_REQUEST', message: /permissions/ });
  await t.rejects(service.update('default', {}, OPERATOR, FULL_ACCESS), { code: 'INVALID_REQUEST' });
  await t.rejects(service.update('nobody', {}, OPERATOR, FULL_ACCESS), { code: 'API_KEY_NOT_FOUND' });
  t.equal(told.length, 5);
  const { items } = await store.read.auditRecords({ before: null, limit: 10 }, { resource: 'api_key' });
  t.strictSame(
    items.map(({ action }) => action),
    ['update', 'update', 'update', 'create'],
    'what changed nothing left no record',
  );
});

t.test('a key with an end, a rate and origins gives none beyond them, not even to itself', async (t) => {
  const { service, create } = await stage(t);
  const permissions = ['api-keys:write', 'relayers:a:send'];
  const limits = {
    expires_at: '2999-01-01T00:00:00.000+00:00',
    rate_limit: { requests_per_second: 5, burst: 10 },
    allowed_origins: ['https://a.example', 'https://b.example'],
  };
  const own = String((await create({ name: 'Own', permissions, ...limits }))['id']);
  const [by, access] = [{ keyId: own, requestId: 'request-2' }, new Access(permissions)];
  const child = await create(BODY, by, access);
  t.match(child, limits, 'where nothing is said it has the same');
  const beyond = [
    [{ expires_at: '2999-01-01T00:00:00.001Z' }, 'a later end'],
    [{ rate_limit: { requests_per_second: 6, burst: 10 } }, 'a higher rate'],
    [{ rate_limit: { requests_per_second: 5, burst: 11 } }, 'a higher rate'],
    [{ allowed_origins: ['https://a.example', 'https://c.example'] }, 'use from https://c.example'],
    [{ allowed_origins: ['*'] }, 'use from \\*'],
  ] as const;
  const refused = (what: string) => ({ code: 'PERMISSION_NOT_HELD', message: new RegExp(`cannot grant ${what}`) });
  for (const [change, what] of beyond) {
    await t.rejects(create({ ...BODY, ...change }, by, access), refused(what));
    for (const id of [own, String(child['id'])]) await t.rejects(service.update(id, change, by, access), refused(what));
  }
  await t.rejects(service.update(own, { expires_at: null }, by, access), refused('a later end'));
  await t.rejects(service.update(own, { rate_limit: null }, by, access), refused('a higher rate'));
  const less = {
    expires_at: '2998-01-01T00:00:00.000+00:00',
    rate_limit: { requests_per_second: 1, burst: 1 },
    allowed_origins: ['https://b.example'],
  };
  t.match(await service.update(String(child['id']), less, by, access), less);
  t.match(await create({ ...BODY, ...less }, by, access), less);
  t.match(
    await create(BODY),
    { expires_at: null, rate_limit: null, allowed_origins: ['*'] },
    'that of the environment has no such bounds',
  );
});
