import t from 'tap';
import { AppError } from '../../../../../src/domain/errors.ts';
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

t.test('a send without a body reaches nobody', async (t) => {
  const { call, services } = await startHttp(t);
  const answer = await call(PATH, { method: 'POST' });
  t.equal(answer.status, 400);
  t.match(answer.json, { error: /body is missing/, message: 'Bad Request' });
  t.equal(services.transactions.sent.length, 0);
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
