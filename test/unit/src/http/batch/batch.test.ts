import t from 'tap';
import { AppError } from '../../../../../src/domain/errors.ts';
import { Access, FULL_ACCESS } from '../../../../../src/domain/settings/access.ts';
import { type BatchParts, type BatchRequest, batchSchema, sendBatch } from '../../../../../src/http/batch/batch.ts';

const request = (relayer_id: string, transaction: unknown): BatchRequest => ({ relayer_id, transaction });

function partsOf(send: BatchParts['transactions']['send'], given: Partial<BatchParts> = {}): BatchParts {
  const noKeys = () => Promise.reject(new Error('no request has a key'));
  return {
    transactions: { send },
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
