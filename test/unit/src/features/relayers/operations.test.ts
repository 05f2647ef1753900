import { hash } from 'node:crypto';
import t from 'tap';
import { AppError } from '../../../../../src/domain/errors.ts';
import { Access } from '../../../../../src/features/api-keys/records/access.ts';
import { startHttp } from '../../../../support/http-server.ts';

t.test('the list is paged and says so', async (t) => {
  const { call, services } = await startHttp(t);
  services.relayers.known.set('r2', { id: 'r2' });
  const all = await call('/api/v1/relayers');
  t.match(all.json, { success: true, error: null, pagination: { current_page: 1, per_page: 10, total_items: 2 } });
  t.match((await call('/api/v1/relayers?page=2&per_page=1')).json, { data: [{ id: 'r2' }] });
  t.match((await call('/api/v1/relayers?page=0&per_page=600')).json, {
    pagination: { current_page: 1, per_page: 500 },
  });
  t.strictSame(services.relayers.asked.at(-1), { page: 1, perPage: 500 });
});

t.test('a bad page is named', async (t) => {
  const { call } = await startHttp(t);
  const answer = await call('/api/v1/relayers?page=-1');
  t.equal(answer.status, 400);
  t.strictSame(answer.json, {
    success: false,
    data: null,
    error: 'page: must be a whole number, 0 or more',
    message: 'Bad Request',
    code: 'INVALID_REQUEST',
    retryable: false,
  });
  t.match((await call('/api/v1/relayers?page=1&page=2')).json, { error: 'page: must be given once' });
});

t.test('the list is narrowed by text and state', async (t) => {
  const { call, services } = await startHttp(t);
  const asked = async (query: string) => {
    t.equal((await call(`/api/v1/relayers?${query}`)).status, 200, query);
    return services.relayers.filters.at(-1);
  };
  t.match(await asked('search=%20Sepolia%20'), { search: 'Sepolia', states: undefined, among: undefined });
  t.match(await asked('state=disabled'), { states: ['disabled'], search: undefined });
  t.match(await asked('state=Disabled,%20paused&search=x'), { states: ['disabled', 'paused'], search: 'x' });
  t.equal(await asked('search='), undefined);
  for (const [query, error] of [
    ['state=disbaled', 'state: "disbaled" is not a state. Did you mean "disabled"?'],
    ['state=paused,', 'state: "" is not a state. There are active, paused, disabled'],
    ['state=active&state=paused', 'state: must be given once'],
    ['search=a&search=b', 'search: must be given once'],
    [`search=${'x'.repeat(257)}`, 'search: must have at most 256 characters'],
  ] as const) {
    t.match(await call(`/api/v1/relayers?${query}`), { status: 400, json: { error } }, query);
  }
});

t.test('create answers 201, delete says so', async (t) => {
  const { call, post } = await startHttp(t);
  const created = await post('/api/v1/relayers', '{"id":"r9","name":"New"}');
  t.match([created.status, created.json], [201, { success: true, data: { id: 'r9' }, error: null }]);
  const deleted = await call('/api/v1/relayers/r9', { method: 'DELETE' });
  t.strictSame(deleted.json, { success: true, data: 'Relayer deleted successfully', error: null });
  t.equal((await call('/api/v1/relayers/r9', { method: 'DELETE' })).status, 404);
  const headers = { 'content-type': 'application/json' };
  const narrowed = await call('/api/v1/relayers/r1', { method: 'DELETE', body: '{"force":false}', headers });
  t.equal(narrowed.status, 400);
});

t.test('one relayer, its status and its balance', async (t) => {
  const { call, services } = await startHttp(t);
  services.relayers.wei = String(2n ** 120n);
  t.match((await call('/api/v1/relayers/r1')).json, {
    success: true,
    data: { id: 'r1', policies: { min_balance: 1 } },
  });
  t.match((await call('/api/v1/relayers/r1/status')).json, { data: { network_type: 'evm', paused: false } });
  const balance = await call('/api/v1/relayers/r1/balance');
  t.equal(balance.text, `{"success":true,"data":{"balance":${2n ** 120n},"unit":"wei"},"error":null}`);
});

t.test('an unknown one is 404 with its id, however odd', async (t) => {
  const { call } = await startHttp(t);
  for (const id of ['nobody', 'a%2Fb', '..%2F..%2Fetc', 'x'.repeat(2000), '%F0%9F%92%A5', '__proto__', 'constructor']) {
    const answer = await call(`/api/v1/relayers/${id}`);
    t.equal(answer.status, 404, id.slice(0, 20));
    t.match(answer.json, { success: false, message: `Relayer with ID ${decodeURIComponent(id)} not found` });
  }
});

t.test('a misspelt one is told the near one, of those that the key sees', async (t) => {
  const { call, post, services, clientKeys } = await startHttp(t);
  for (const id of ['local-1', 'local-2', 'payout']) services.relayers.known.set(id, { id });
  const message = 'Relayer with ID lokal-1 not found';
  const told = { status: 404, json: { error: `${message}. Did you mean "local-1"?`, message } };
  t.match(await call('/api/v1/relayers/lokal-1'), told);
  const ofSome = new Access(['relayers:payout:read']);
  clientKeys.set(hash('sha256', 'k'), { id: 'k', access: ofSome, rate: null, allowedOrigins: [], expiresAt: null });
  const headers = { authorization: 'Bearer k' };
  t.match(await call('/api/v1/relayers/lokal-1', { headers }), { json: { error: message } }, 'no other’s');
  t.match(await call('/api/v1/relayers/payuot', { headers }), { json: { error: /mean "payout"\?$/ } });
  const batch = { requests: [{ relayer_id: 'lokal-1', transaction: {} }] };
  services.transactions.onSend = async () => {
    throw new AppError('RELAYER_NOT_FOUND', { id: 'lokal-1' });
  };
  t.match((await post('/api/v1/transactions/batch', JSON.stringify(batch))).json, { data: [told.json] });
});

t.test('a change is answered with the changed relayer', async (t) => {
  const { call } = await startHttp(t);
  const patch = (id: string, body: string) =>
    call(`/api/v1/relayers/${id}`, { method: 'PATCH', body, headers: { 'content-type': 'application/json' } });
  const changed = await patch('r1', '{"paused":true}');
  t.equal(changed.status, 200);
  t.match(changed.json, { success: true, data: { id: 'r1', paused: true }, error: null });
  const unknown = await patch('nobody', '{}');
  t.equal(unknown.status, 404);
  t.match(unknown.json, { success: false, data: null, message: 'Relayer with ID nobody not found' });
  t.match((await patch('r1', '{')).json, { message: 'Bad Request' });
});
