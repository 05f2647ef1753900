import t from 'tap';
import { AppError } from '../../../../../src/domain/errors.ts';
import { Access, FULL_ACCESS } from '../../../../../src/features/api-keys/records/access.ts';
import {
  type BatchParts,
  type BatchRequest,
  batchSchema,
  sendBatch,
} from '../../../../../src/features/transactions/batch-operations.ts';
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

const request = (relayer_id: string, transaction: unknown): BatchRequest => ({ relayer_id, transaction });

function partsOf(send: BatchParts['transactions']['send'], given: Partial<BatchParts> = {}): BatchParts {
  const noKeys = () => Promise.reject(new Error('no request has a key'));
  return {
    transactions: { send },
    relayers: { list: async () => ({ items: [], total: 0 }) },
    keys: { begin: noKeys, end: noKeys },
    caller: { keyId: 'k', requestId: 'q', access: FULL_ACCESS },
    effect: undefined,
    isGone: () => false,
    onFault: () => {},
    ...given,
  };
}

t.test('those of one relayer go one after the other, and others beside them', async (t) => {
  const order: unknown[] = [];
  const first = Promise.withResolvers<void>();
  const parts = partsOf(async (_relayerId, body) => {
    order.push(body);
    if (body === 'a1') await first.promise;
    if (body === 'b2') first.resolve();
    return { id: String(body) };
  });
  const requests = [request('a', 'a1'), request('a', 'a2'), request('b', 'b1'), request('b', 'b2')];
  const outcomes = await sendBatch(requests, parts);
  t.strictSame(order, ['a1', 'b1', 'b2', 'a2']);
  t.match(
    outcomes.map(({ answer }) => answer),
    ['a1', 'a2', 'b1', 'b2'].map((id) => ({ status: 200, success: true, data: { id }, error: null })),
  );
});

t.test('what is refused does not hold up the others, and says whether another try may end otherwise', async (t) => {
  const faults: AppError[] = [];
  const failures: Record<string, unknown> = {
    paused: new AppError('RELAYER_PAUSED', {}),
    wrong: new AppError('INVALID_REQUEST', { reason: 'to: missing' }),
    broken: new TypeError('secret inner words'),
  };
  const parts = partsOf(
    async (_relayerId, body) => {
      if (failures[String(body)] !== undefined) throw failures[String(body)];
      return { id: 'fine' };
    },
    { onFault: (error) => faults.push(error) },
  );
  const bodies = ['paused', 'wrong', 'broken', 'fine'];
  const outcomes = await sendBatch(
    bodies.map((body) => request('a', body)),
    parts,
  );
  t.match(outcomes, [
    { answer: { status: 403, success: false, code: 'RELAYER_PAUSED' }, isProvisional: true },
    { answer: { status: 400, code: 'INVALID_REQUEST', error: 'to: missing' }, isProvisional: false },
    { answer: { status: 500, error: 'Internal Server Error' }, isProvisional: true },
    { answer: { status: 200 }, isProvisional: false },
  ]);
  t.equal(faults.length, 1);
});

t.test('each is for a relayer that the key may send with', async (t) => {
  const access = new Access(['relayers:a:send', 'relayers:b:read']);
  const parts = partsOf(async () => ({}), { caller: { keyId: 'k', requestId: 'q', access } });
  const outcomes = await sendBatch(
    ['a', 'b', 'c'].map((id) => request(id, {})),
    parts,
  );
  t.match(
    outcomes.map(({ answer }) => [answer.status, answer['code']]),
    [[200], [403, 'NOT_PERMITTED'], [404, 'RELAYER_NOT_FOUND']],
  );
});

t.test('there is at least one, and at most 100', (t) => {
  const some = (count: number) => ({ requests: Array.from({ length: count }, () => request('a', {})) });
  t.ok(batchSchema.safeParse(some(100)).success);
  for (const count of [0, 101]) t.notOk(batchSchema.safeParse(some(count)).success);
  t.notOk(batchSchema.safeParse({ requests: [{ ...request('a', {}), idempotencyKey: 'x' }] }).success);
  t.end();
});
