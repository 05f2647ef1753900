import t from 'tap';
import { AppError } from '../../../../../src/domain/errors.ts';
import { startHttp } from '../../../../support/http-server.ts';

const PATH = '/api/v1/transactions/batch';

t.test('a request with a key has one outcome, by itself and in batches', async (t) => {
  const { post, services } = await startHttp(t);
  let count = 0;
  services.transactions.onSend = async () => ({ id: `tx-${++count}`, value: 2n ** 70n });
  const one = { relayer_id: 'r1', idempotency_key: 'order-1', transaction: { to: '0x1', value: 1 } };
  const first = await post(PATH, JSON.stringify({ requests: [one, { ...one, idempotency_key: 'order-2' }, one] }));
  t.match(first.json, {
    success: true,
    data: [{ data: { id: 'tx-1' } }, { data: { id: 'tx-2' } }, { replayed: true }],
  });
  t.match(first.text, /"id":"tx-1","value":1180591620717411303424\},"error":null,"replayed":true/, 'digit for digit');
  const single = await post('/api/v1/relayers/r1/transactions', '{"value":1,"to":"0x1"}', {
    'idempotency-key': 'order-1',
  });
  t.match([single.headers.get('idempotency-replayed'), single.json], ['true', { data: { id: 'tx-1' } }]);
  const other = { ...one, transaction: { to: '0x2', value: 1 } };
  const mismatch = await post(PATH, JSON.stringify({ requests: [other] }));
  t.match(mismatch.json, { data: [{ status: 409, code: 'IDEMPOTENCY_MISMATCH' }] });
  t.equal(services.transactions.sent.length, 2);
});

t.test('under a key of its own a batch is repeated whole, and what failed for now is tried again', async (t) => {
  const { post, services } = await startHttp(t);
  let isPaused = true;
  services.transactions.onSend = async (body) => {
    if (isPaused && body === 2) throw new AppError('RELAYER_PAUSED', {});
    return { id: String(body) };
  };
  const batch = JSON.stringify({ requests: [1, 2].map((transaction) => ({ relayer_id: 'r1', transaction })) });
  const send = () => post(PATH, batch, { 'idempotency-key': 'batch-1' });
  t.match((await send()).json, { data: [{ status: 200 }, { status: 403 }] });
  isPaused = false;
  t.match((await send()).json, { data: [{ status: 200 }, { status: 200 }] });
  const { effects } = services.transactions;
  t.strictSame(
    effects.map((effect) => effect?.occurrence),
    [0, 1, 0, 1],
    'by its place each finds what happened',
  );
  t.equal((await send()).headers.get('idempotency-replayed'), 'true');
});

t.test('a batch counts as many requests of its key as it has, all of them or none', async (t) => {
  const { post, services } = await startHttp(t, { rate: { perSecond: 0.001, burst: 6 } });
  services.transactions.onSend = async (body) => ({ id: String(body) });
  const send = (count: number) =>
    post(PATH, JSON.stringify({ requests: Array(count).fill({ relayer_id: 'r1', transaction: 1 }) }));
  const first = await send(4);
  t.match([first.status, first.headers.get('ratelimit-remaining')], [200, '2']);
  const refused = await send(3);
  t.match([refused.status, refused.json], [429, { code: 'TOO_MANY_REQUESTS', retryable: true }]);
  t.match(refused.headers.get('retry-after'), /^\d+$/);
  t.equal(services.transactions.sent.length, 4, 'none of it was sent');
  t.equal((await send(1)).status, 200, 'it cost what asking costs');
  t.match((await send(1)).status, 429);
});

t.test('a batch that its key can never send is told so', async (t) => {
  const { post, services } = await startHttp(t, { rate: { perSecond: 1, burst: 6 } });
  const requests = Array(7).fill({ relayer_id: 'r1', transaction: 1 });
  const answer = await post(PATH, JSON.stringify({ requests }));
  t.match([answer.status, answer.json], [400, { error: /7 at once are more than the 6/ }]);
  t.equal(services.transactions.sent.length, 0);
});

t.test('what is no batch is refused as a whole', async (t) => {
  const { post, services } = await startHttp(t);
  for (const body of ['{}', '[]', '{"requests":[]}', '{"requests":[{"relayer":"r1"}]}']) {
    t.match((await post(PATH, body)).json, { success: false, code: 'INVALID_REQUEST' }, body);
  }
  t.equal(services.transactions.sent.length, 0);
});
