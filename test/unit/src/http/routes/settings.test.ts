import t from 'tap';
import { FULL_ACCESS } from '../../../../../src/features/api-keys/records/access.ts';
import { API_KEY, startHttp } from '../../../../support/http-server.ts';

const JSON_BODY = { 'content-type': 'application/json' };

/** What is created, changed and deleted over the API, and its texts. */
const RESOURCES = [
  {
    path: '/api/v1/notifications',
    body: '{"id":"n1","url":"https://hooks.example/"}',
    id: 'n1',
    change: { body: '{"url":"https://two.example/"}', status: 200, json: { data: { url: 'https://two.example/' } } },
    deleted: 'Notification deleted successfully',
    unknown: 'Notification not found',
  },
  {
    path: '/api/v1/networks',
    body: '{"id":"evm:mine"}',
    id: 'evm:mine',
    change: { body: '{"tags":["x"]}', status: 200, json: { data: { tags: ['x'] } } },
    deleted: 'Network deleted successfully',
    unknown: "Network with ID 'evm:mine' not found",
  },
  {
    path: '/api/v1/signers',
    body: '{"id":"k1","type":"plain"}',
    id: 'k1',
    change: { body: '{}', status: 400, json: { error: /^Signer updates are not allowed/ } },
    deleted: 'Signer deleted successfully',
    unknown: 'Signer with ID k1 not found',
  },
] as const;

for (const { path, body, id, change, deleted, unknown } of RESOURCES) {
  t.test(`${path}: create answers 201, the rest 200, in the envelope`, async (t) => {
    const { call, post } = await startHttp(t);
    const one = `${path}/${id}`;
    t.match(await post(path, body), { status: 201, json: { success: true, data: { id }, error: null } });
    const pagination = { current_page: 1, per_page: 10, total_items: 1 };
    t.match((await call(path)).json, { success: true, data: [{ id }], error: null, pagination });
    t.match((await call(one)).json, { success: true, data: { id } });
    t.match((await call(`${path}/${encodeURIComponent(id)}`)).json, { data: { id } }, 'as clients encode it');
    const changed = await call(one, { method: 'PATCH', body: change.body, headers: JSON_BODY });
    t.match(changed, { status: change.status, json: change.json });
    // What is refused always is refused the same way without a body.
    if (change.status === 400) t.match(await call(one, { method: 'PATCH' }), { status: 400, json: change.json });
    const narrowed = await call(one, { method: 'DELETE', body: '{"x":1}', headers: JSON_BODY });
    t.equal(narrowed.status, 400, 'a body would be ignored');
    t.strictSame((await call(one, { method: 'DELETE' })).json, { success: true, data: deleted, error: null });
    t.match(await call(one), { status: 404, json: { success: false, data: null, message: unknown } });
    t.equal((await call(path, { method: 'PUT' })).status, 405);
  });
}

t.test("the reference's texts of failures of notifications", async (t) => {
  const { call, post } = await startHttp(t);
  const path = '/api/v1/notifications';
  await post(path, '{"id":"n1"}');
  const taken = await post(path, '{"id":"n1"}');
  t.match(taken, { status: 409, json: { success: false, message: 'Notification with this ID already exists' } });
  for (const init of [{}, { method: 'PATCH', body: '{}', headers: JSON_BODY }, { method: 'DELETE' }]) {
    t.match(await call(`${path}/nobody`, init), { status: 404, json: { message: 'Notification not found' } });
  }
  t.match((await call(`${path}?page=-1`)).json, { success: false, data: null, message: 'Bad Request' });
  t.match((await call(`${path}/n1`, { method: 'PATCH' })).json, { message: 'Bad Request', error: /body is missing/ });
});

t.test('an API key is shown when it is created, and never again', async (t) => {
  const path = '/api/v1/api-keys';
  const { call, post, services } = await startHttp(t);
  const created = await post(path, '{"id":"k1","permissions":["*"]}');
  t.match([created.status, created.json], [201, { success: true, data: { id: 'k1', key: 'a fresh key' } }]);
  t.match(services.resources.api_key.callers, [{ access: FULL_ACCESS }]);
  const list = (await call(path)).json as { data: unknown };
  t.strictSame(list.data, [{ id: 'k1', permissions: ['*'] }]);
  t.match((await call(`${path}/k1`)).json, { data: { id: 'k1' } });
  t.match((await call(`${path}/current`)).json, { success: true, data: { id: 'default' } }, 'that of the request');
  t.match((await call(`${path}/k1/permissions`)).json, { success: true, data: ['*'] });
  const deleted = await call(`${path}/k1`, { method: 'DELETE' });
  t.strictSame(deleted.json, { success: true, data: 'API key deleted successfully', error: null });
  services.resources.api_key.own = undefined;
  t.equal((await call(`${path}/current`)).status, 401, 'another instance has revoked it');
  t.match(await call(`${path}/k1/permissions`), { status: 404, json: { error: 'Api key with id k1 not found' } });
});

t.test('a change is recorded with the key and the request that made it', async (t) => {
  const { post, services } = await startHttp(t);
  await post('/api/v1/notifications', '{"id":"a"}', { 'x-request-id': 'mine' });
  await post('/api/v1/notifications', '{"id":"b"}', { 'x-request-id': 'keyed', 'idempotency-key': 'k' });
  const { callers } = services.resources.notification;
  t.match(callers, [
    { keyId: 'default', requestId: 'mine', effect: undefined },
    { keyId: 'default', requestId: 'keyed', effect: { occurrence: 0, isStep: false } },
  ]);
  t.notMatch(JSON.stringify(callers), API_KEY);
});

t.test('deliveries go on from a cursor, and an unknown one is 404', async (t) => {
  const path = '/api/v1/notifications/n1/deliveries';
  const { call, post, services } = await startHttp(t);
  const asked: unknown[] = [];
  services.deliveries.list = async (...[id, part, filter]: unknown[]) => {
    asked.push([id, part, filter]);
    return { items: [{ id: 'e1' }], next: asked.length === 1 ? 17 : null };
  };
  const first = await call(`${path}?per_page=1&state=dead&transaction_id=t1`);
  t.match(first.json, { success: true, data: [{ id: 'e1' }], error: null });
  const { next_cursor: cursor, ...rest } = (first.json as { pagination: Record<string, unknown> }).pagination;
  t.strictSame(rest, { per_page: 1 });
  t.match((await call(`${path}?cursor=${cursor}`)).json, { pagination: { per_page: 10, next_cursor: null } });
  t.strictSame(asked, [
    ['n1', { before: null, limit: 1 }, { state: 'dead', transactionId: 't1' }],
    ['n1', { before: 17, limit: 10 }, { state: undefined, transactionId: undefined }],
  ]);
  for (const made of ['', 'x', '17', `${cursor}A`, `${cursor}&cursor=${cursor}`]) {
    t.match(await call(`${path}?cursor=${made}`), { status: 400, json: { error: /^cursor: / } }, made);
  }
  for (const query of ['state=lost', 'per_page=-1']) t.equal((await call(`${path}?${query}`)).status, 400, query);
  t.match(await call(`${path}/e9`), { status: 404, json: { code: 'DELIVERY_NOT_FOUND' } });
  t.match(await post(`${path}/e9/redeliver`, ''), { status: 404, json: { code: 'DELIVERY_NOT_FOUND' } });
  t.match(await post(`${path}/e9/redeliver`, '{"url":"x"}'), { status: 400 });
});

t.test('audit records are listed in parts, all or those of one resource or key', async (t) => {
  const { call, services } = await startHttp(t);
  const first = await call('/api/v1/audit');
  t.match(first.json, { success: true, data: [{ id: 1 }], pagination: { per_page: 10, next_cursor: null } });
  await call('/api/v1/audit?cursor=7&per_page=5&resource=relayer&resource_id=r1&key_id=k1');
  t.strictSame(services.audit.asked, [
    { part: { before: null, limit: 10 }, filter: { resource: undefined, resourceId: undefined, keyId: undefined } },
    { part: { before: 7, limit: 5 }, filter: { resource: 'relayer', resourceId: 'r1', keyId: 'k1' } },
  ]);
  const unknown = await call('/api/v1/audit?resource=cat');
  t.match([unknown.status, unknown.json], [400, { error: /^resource: / }]);
});
