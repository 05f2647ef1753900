import t from 'tap';
import { AppError, invalidRequest } from '../../../../../src/domain/errors.ts';
import { startHttp } from '../../../../support/http-server.ts';

const PATH = '/api/v1/relayers/r1/transactions';

t.test('an accepted send is 200 with the transaction', async (t) => {
  const { post, services } = await startHttp(t);
  const answer = await post(
    PATH,
    '{"value":115792089237316195423570985008687907853269984665640564039457584007913129639935}',
  );
  t.equal(answer.status, 200);
  t.strictSame(answer.json, { success: true, data: { id: 'tx-1', status: 'pending' }, error: null });
  t.strictSame(services.transactions.sent, [{ relayerId: 'r1', body: { value: String(2n ** 256n - 1n) } }]);
});

t.test('a refused send says why', async (t) => {
  const { post, services } = await startHttp(t);
  services.transactions.onSend = async () => {
    throw new AppError('RELAYER_PAUSED', {});
  };
  const answer = await post(PATH, '{}');
  t.equal(answer.status, 403);
  t.strictSame(answer.json, {
    success: false,
    data: null,
    error: 'Relayer paused',
    message: 'Relayer paused',
    code: 'RELAYER_PAUSED',
    retryable: true,
  });
});

t.test('a request without a body is refused', async (t) => {
  const { call, services } = await startHttp(t);
  for (const [method, path] of [
    ['POST', PATH],
    ['PUT', `${PATH}/tx-1`],
    ['POST', '/api/v1/relayers/r1/sign'],
    ['POST', '/api/v1/relayers/r1/sign-typed-data'],
    ['POST', '/api/v1/relayers/r1/sign-transaction'],
    ['POST', `${PATH}/sponsored/quote`],
    ['POST', `${PATH}/sponsored/build`],
    ['POST', '/api/v1/relayers/r1/rpc'],
  ] as const) {
    const json = { error: /body is missing/, message: 'Bad Request' };
    t.match(await call(path, { method }), { status: 400, json }, `${method} ${path}`);
  }
  t.strictSame([services.transactions.sent, services.lifecycle.intents], [[], []]);
});

t.test('the list takes a status in any case', async (t) => {
  const { call, services } = await startHttp(t);
  t.match((await call(`${PATH}?status=CONFIRMED&page=2`)).json, { pagination: { current_page: 2, total_items: 1 } });
  await call(PATH);
  t.strictSame(services.transactions.listed, [
    { page: { page: 2, perPage: 10 }, status: 'confirmed' },
    { page: { page: 1, perPage: 10 }, status: undefined },
  ]);
  for (const status of ['', 'cancelled', 'confirmed,failed']) {
    const answer = await call(`${PATH}?status=${status}`);
    t.equal(answer.status, 400, status);
    t.match(answer.json, { error: /^status: must be one of pending, sent/ });
  }
  t.equal((await call(`${PATH}?status=sent&status=failed`)).status, 400);
});

t.test('one transaction', async (t) => {
  const { call } = await startHttp(t);
  t.match((await call(`${PATH}/tx-1`)).json, { data: { id: 'tx-1', status: 'mined' } });
  const answer = await call(`${PATH}/tx-2`);
  t.equal(answer.status, 404);
  t.match(answer.json, { message: 'Transaction with ID tx-2 not found' });
});

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

t.test('a transaction by a hash, and its timeline', async (t) => {
  const { call } = await startHttp(t);
  t.match(await call(`${PATH}/by-hash/0xAb`), { status: 200, json: { data: { id: 'tx-1', hash: '0xAb' } } });
  t.match(await call(`${PATH}/tx-1/timeline`), { status: 200, json: { data: { transaction_id: 'tx-1', events: [] } } });
});

t.test('what is signed or quoted goes to the signing service and its answer into the envelope', async (t) => {
  const { post } = await startHttp(t);
  for (const [path, name, body] of [
    ['sign', 'message', '{"message":"x"}'],
    ['sign-typed-data', 'typedData', '{"domain_separator":"00"}'],
    ['sign-transaction', 'signature', '{"transaction":"AAA="}'],
    ['transactions/sponsored/quote', 'quoted', '{"fee_token":"x"}'],
    ['transactions/sponsored/build', 'built', '{"fee_token":"x"}'],
  ] as const) {
    const answer = await post(`/api/v1/relayers/r1/${path}`, body);
    t.strictSame([answer.status, answer.json], [200, { success: true, data: { [name]: body }, error: null }]);
  }
});
