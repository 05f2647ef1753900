import t from 'tap';
import { invalidRequest } from '../../../../../src/domain/errors.ts';
import { startHttp } from '../../../../support/http-server.ts';

const PATH = '/api/v1/relayers/r1/transactions';

t.test('PUT replaces with the body as it is sent', async (t) => {
  const { call, services } = await startHttp(t);
  const answer = await call(`${PATH}/tx-1`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: '{"value":115792089237316195423570985008687907853269984665640564039457584007913129639935}',
  });
  t.equal(answer.status, 200);
  t.strictSame(answer.json, { success: true, data: { id: 'tx-1', status: 'submitted' }, error: null });
  t.strictSame(services.lifecycle.intents, [
    { kind: 'replace', relayerId: 'r1', transactionId: 'tx-1', body: { value: String(2n ** 256n - 1n) } },
  ]);
});

t.test('a replacement without a body reaches nobody', async (t) => {
  const { call, services } = await startHttp(t);
  const answer = await call(`${PATH}/tx-1`, { method: 'PUT' });
  t.equal(answer.status, 400);
  t.match(answer.json, { error: /body is missing/, message: 'Bad Request' });
  t.strictSame(services.lifecycle.intents, []);
});

t.test('DELETE cancels one, and all that are pending under a path of its own', async (t) => {
  const { call, services } = await startHttp(t);
  t.match(await call(`${PATH}/tx-1`, { method: 'DELETE' }), { status: 200, json: { data: { status: 'canceled' } } });
  t.match(await call(`${PATH}/pending`, { method: 'DELETE' }), { status: 200, json: { data: { total_processed: 0 } } });
  t.strictSame(services.lifecycle.intents, [
    { kind: 'cancel', relayerId: 'r1', transactionId: 'tx-1' },
    { kind: 'cancel all', relayerId: 'r1' },
  ]);
});

t.test('DELETE takes no body: one that names some of them would cancel all', async (t) => {
  const { call, services } = await startHttp(t);
  const headers = { 'content-type': 'application/json' };
  for (const path of ['/tx-1', '/pending']) {
    const answer = await call(`${PATH}${path}`, { method: 'DELETE', headers, body: '{"ids":["tx-1"]}' });
    t.match(answer, { status: 400, json: { error: /^This request takes no body/ } });
    t.equal(
      (await call(`${PATH}${path}`, { method: 'DELETE', headers, body: '{}' })).status,
      200,
      'an empty one is none',
    );
  }
  t.equal(services.lifecycle.intents.length, 2);
});

t.test('what the lane refuses says why', async (t) => {
  const { call, services } = await startHttp(t);
  services.lifecycle.onIntent = () => {
    throw invalidRequest('Invalid transaction state for cancel_transaction. Current: Mined');
  };
  const answer = await call(`${PATH}/tx-1`, { method: 'DELETE' });
  t.equal(answer.status, 400);
  t.match(answer.json, {
    success: false,
    data: null,
    error: 'Invalid transaction state for cancel_transaction. Current: Mined',
    message: 'Bad Request',
  });
});

t.test('a nonce is an integer of 64 bits', async (t) => {
  const { call } = await startHttp(t);
  for (const nonce of ['0', '7', String(2n ** 64n - 1n)]) {
    t.match(await call(`${PATH}/by-nonce/${nonce}`), { status: 200, json: { data: { id: 'tx-1' } } }, nonce);
  }
  for (const nonce of [String(2n ** 64n), '-1', '1.5', '1e3', '0x1', 'latest', '9'.repeat(1_000)]) {
    const answer = await call(`${PATH}/by-nonce/${nonce}`);
    t.equal(answer.status, 400, nonce);
    t.match(answer.json, { error: 'nonce: must be an integer from 0 to 18446744073709551615' });
  }
});

t.test('a transaction by a hash', async (t) => {
  const { call } = await startHttp(t);
  t.match(await call(`${PATH}/by-hash/0xAb`), { status: 200, json: { data: { id: 'tx-1', hash: '0xAb' } } });
});

t.test('the timeline of one transaction', async (t) => {
  const { call } = await startHttp(t);
  t.match(await call(`${PATH}/tx-1/timeline`), { status: 200, json: { data: { transaction_id: 'tx-1', events: [] } } });
});

t.test('other methods are refused', async (t) => {
  const { call } = await startHttp(t);
  for (const [method, path] of [
    ['PUT', '/pending'],
    ['POST', '/tx-1'],
    ['DELETE', '/by-nonce/1'],
    ['DELETE', '/by-hash/0x1'],
    ['DELETE', '/tx-1/timeline'],
  ] as const) {
    t.equal((await call(`${PATH}${path}`, { method })).status, 405, `${method} ${path}`);
  }
});
