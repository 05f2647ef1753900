import t, { type Test } from 'tap';
import { rpcDialect } from '../../../../../src/chains/evm/rpc-error-dialect.ts';
import { systemClock } from '../../../../../src/domain/clock.ts';
import { createAddressGuard } from '../../../../../src/egress/address-guard.ts';
import { createHttpClient } from '../../../../../src/egress/http-client.ts';
import { createEndpoint } from '../../../../../src/egress/rpc/endpoint.ts';
import { createEndpointLine, type EndpointLineLimits } from '../../../../../src/egress/rpc/endpoint-line.ts';
import { type DoubleHandler, startRpcDouble } from '../../../../support/rpc-double.ts';

async function open(t: Test, handler: DoubleHandler, settings: Partial<EndpointLineLimits> = {}) {
  const double = await startRpcDouble(handler);
  const http = createHttpClient(createAddressGuard({ allowedHosts: [], blockPrivate: false }));
  let failures = 0;
  const limits: string[] = [];
  let heldMs = 0;
  let isOnly = false;
  let borne = 0;
  let id = 0;
  const line = createEndpointLine({
    endpoint: createEndpoint({ url: `${double.url}/v3/0123456789abcdef`, weight: 100 }),
    http,
    clock: systemClock,
    pool: {
      failed: () => (failures += 1),
      hold: () => undefined,
      limited: (_, reason) => limits.push(reason),
      requestSent: () => undefined,
      requestAnswered: () => (borne += 1),
      waitMs: () => heldMs,
      isWorthWaiting: () => isOnly,
    },
    settings: {
      timeoutMs: 5_000,
      maxAnswerBytes: 1_000_000,
      pauseMs: 60_000,
      maxCalls: 256,
      ...settings,
    },
    dialect: rpcDialect,
    nextId: () => {
      id += 1;
      return id;
    },
  });
  t.teardown(async () => {
    line.close();
    await http.close();
    await double.stop();
  });
  return {
    line,
    double,
    failures: () => failures,
    limits,
    borne: () => borne,
    hold: (ms: number, only = false) => {
      heldMs = ms;
      isOnly = only;
    },
    sizes: () => double.requests.map((calls) => calls.length),
    readMany: (count: number) => Promise.all(Array.from({ length: count }, (_, n) => line.read('read', [n]))),
  };
}

const echo: DoubleHandler = ({ params }) => ({ result: params[0] });
const upTo = (count: number) => Array.from({ length: count }, (_, n) => n);
/** The answer to a batch (a JSON array) in hiero-json-rpc-relay issue 1820. */
const refusal = { error: { code: -32_600, message: 'Invalid Request' } };

t.test('reads of one turn of the loop share a request, however deep their continuations', async (t) => {
  const { line, sizes } = await open(t, echo);
  const deep = async (n: number) => {
    for (let step = 0; step < n; step += 1) await Promise.resolve();
    return line.read('read', [n]);
  };
  t.same(await Promise.all(upTo(10).map(deep)), upTo(10));
  t.same(sizes(), [10]);
  t.equal(await line.read('read', ['alone']), 'alone');
  t.same(sizes(), [10, 1]);
});

t.test('the same call shares an answer that is under way, where it may, and no later one', async (t) => {
  let asked = 0;
  const { line } = await open(t, ({ params }) => {
    asked += 1;
    return params[0] === 'wrong' ? refusal : { result: asked };
  });
  const shared = (param: string) => line.read('read', [param], { shares: 'under way' });
  t.same(await Promise.all([shared('a'), shared('a'), shared('b'), line.read('read', ['a'])]), [1, 1, 2, 3]);
  t.equal(await shared('a'), 4);
  for (const outcome of await Promise.allSettled([shared('wrong'), shared('wrong')]))
    t.match(outcome, { status: 'rejected', reason: { message: /Invalid Request/ } });
  t.equal(asked, 5);
  t.equal(await shared('a'), 6);
});

t.test('the same call shares a request that is not sent yet, where it may', async (t) => {
  let asked = 0;
  const { line, sizes } = await open(t, () => {
    asked += 1;
    return { result: asked };
  });
  const read = (method: string) => line.read(method, [], { shares: 'unsent' });
  t.same(await Promise.all([read('a'), read('b'), read('a'), line.read('a', [])]), [1, 2, 1, 3]);
  const first = read('a');
  await new Promise((resolve) => setTimeout(resolve, 0));
  await new Promise((resolve) => setImmediate(resolve));
  t.same(await Promise.all([first, read('a')]), [4, 5], 'it was sent');
  t.same(sizes(), [3, 1, 1]);
});

t.test('a request holds no more than a hundred calls and about a megabyte', async (t) => {
  const { line, sizes, readMany } = await open(t, echo);
  t.same(await readMany(250), upTo(250));
  t.ok(sizes().every((size) => size <= 100) && sizes().length <= 4, sizes().join());
  const before = sizes().length;
  const big = 'x'.repeat(400_000);
  await Promise.all(upTo(5).map(() => line.read('read', [0, big])));
  t.same(
    sizes()
      .slice(before)
      .sort((a, b) => a - b),
    [1, 2, 2],
  );
});

t.test('an endpoint that takes no batches gets the reads one by one, and no batch for a while', async (t) => {
  const { double, sizes, readMany, failures } = await open(t, echo);
  double.answerBatch(() => refusal);
  t.same(await readMany(3), upTo(3));
  t.same(sizes(), [3, 1, 1, 1]);
  t.same(await readMany(2), upTo(2));
  t.same(sizes(), [3, 1, 1, 1, 1, 1]);
  t.equal(failures(), 0, 'which is no fault of the endpoint');
});

t.test('an endpoint that takes small batches gets small ones', async (t) => {
  const { double, sizes, readMany } = await open(t, echo);
  double.answerBatch((calls) =>
    // The free plan of drpc.org.
    calls.length > 3 ? { error: { code: 31, message: 'Batch of more than 3 requests are not allowed' } } : undefined,
  );
  t.same(await readMany(12), upTo(12));
  t.same(sizes().slice(0, 2), [12, 6]);
  t.same(sizes().slice(-4), [3, 3, 3, 3]);
});

t.test('what cannot be in a batch is asked alone, and its neighbours keep their answers', async (t) => {
  const { double, sizes, line } = await open(t, echo);
  double.answerBatch((calls) => ({
    answers: calls.map(({ id, params }) =>
      params[0] === 1 ? { id, error: { code: -32_003, message: 'response too large' } } : { id, result: params[0] },
    ),
  }));
  t.same(await Promise.all(upTo(3).map((n) => line.read('read', [n]))), [0, 1, 2]);
  t.same(sizes(), [3, 1]);
});

t.test('one error for a whole batch, as Infura gives it, leaves batches in use', async (t) => {
  const { double, sizes, readMany } = await open(t, echo);
  await readMany(2);
  double.answerBatch(() => ({ error: { code: -32_000, message: 'nonce too low' } }));
  t.same(await readMany(2), upTo(2));
  double.answerBatch(undefined);
  await readMany(2);
  t.same(sizes(), [2, 2, 1, 1, 2]);
});

t.test('a batch that fails speaks against the endpoint once', async (t) => {
  const { double, line, failures } = await open(t, echo);
  double.answerBatch(() => 'hang-up');
  const settled = await Promise.allSettled(upTo(5).map((n) => line.read('read', [n])));
  t.ok(settled.every((entry) => entry.status === 'rejected' && entry.reason.kind === 'transport'));
  t.equal(failures(), 1);
});

t.test('a best-effort read goes alone and speaks against nobody', async (t) => {
  const { line, sizes, failures } = await open(t, ({ method }) =>
    method === 'trace' ? { status: 403 } : { result: 1 },
  );
  const tracing = t.rejects(line.read('trace', [], { bestEffort: true }), {
    name: 'RpcError',
    kind: 'http',
    status: 403,
  });
  t.same(await Promise.all([line.read('a', []), line.read('b', [])]), [1, 1]);
  await tracing;
  t.same(
    sizes().sort((a, b) => a - b),
    [1, 2],
  );
  t.equal(failures(), 0);
});

t.test('offers leave in order, each once, as one batch', async (t) => {
  const { line, double, sizes } = await open(t, echo);
  const settled = await line.offer(
    'send',
    upTo(20).map((n) => [n]),
  );
  t.same(
    settled,
    upTo(20).map((value) => ({ status: 'fulfilled', value })),
  );
  t.same(sizes(), [20]);
  t.same(
    double.calls.map(({ params }) => params[0]),
    upTo(20),
  );
  t.same(await line.offer('send', []), []);
});

t.test('offers whose batch was refused unread go singly, in order, and a node’s error stops nothing', async (t) => {
  const { line, double, sizes } = await open(t, ({ params }) =>
    params[0] === 1 ? { error: { code: -32_000, message: 'nonce too low' } } : { result: params[0] },
  );
  double.answerBatch(() => refusal);
  const settled = await line.offer('send', [[0], [1], [2]]);
  t.match(settled, [{ value: 0 }, { reason: { kind: 'node', message: 'nonce too low' } }, { value: 2 }]);
  t.same(sizes(), [3, 1, 1, 1]);
  t.same(
    double.calls.slice(3).map(({ params }) => params[0]),
    [0, 1, 2],
  );
});

t.test('offers whose batch has no clear answer are not sent again', async (t) => {
  for (const [what, answer] of Object.entries({
    'one error for all': { error: { code: -32_000, message: 'nonce too low' } },
    'a crash': { status: 500 },
    'a bad gateway': { status: 502 },
    'a cut': { body: '[{"jsonrpc":"2.0","id":1,"result":0},{"js' },
    'a single result': { body: '{"jsonrpc":"2.0","id":1,"result":0}' },
    'a hang-up': 'hang-up' as const,
  })) {
    const { line, double, sizes } = await open(t, echo);
    double.answerBatch(() => answer);
    const settled = await line.offer('send', [[0], [1]]);
    t.ok(
      settled.every((entry) => entry.status === 'rejected' && entry.reason.kind !== 'node'),
      what,
    );
    t.same(sizes(), [2], what);
  }
});

t.test('after silence the rest is not sent, and says so', async (t) => {
  const { line, double } = await open(t, ({ params }) => (params[0] === 1 ? 'silence' : { result: params[0] }), {
    timeoutMs: 1_000,
    maxCalls: 1,
  });
  const settled = await line.offer('send', [[0], [1], [2], [3]]);
  const unsent = { reason: { kind: 'transport', message: /^http:\/\/127.0.0.1:\d+: not sent/ } };
  t.match(settled, [{ value: 0 }, { reason: { kind: 'timeout' } }, unsent, unsent]);
  t.equal(double.calls.length, 2);
});

t.test('an answer that is missing from a batch leaves that one offer unclear', async (t) => {
  const { line, double } = await open(t, echo);
  double.answerBatch((calls) => ({ answers: calls.slice(1).map(({ id, params }) => ({ id, result: params[0] })) }));
  t.match(await line.offer('send', [[0], [1], [2]]), [{ reason: { kind: 'malformed' } }, { value: 1 }, { value: 2 }]);
  t.equal(double.calls.length, 3);
});

t.test('who waits too long for room is not sent', async (t) => {
  const { line, double } = await open(t, ({ params }) => (params[0] === 0 ? 'silence' : { result: 1 }), {
    timeoutMs: 80,
    maxCalls: 1,
  });
  const first = t.rejects(line.read('read', [0]), { kind: 'timeout', message: /no answer within 80 ms/ });
  while (double.calls.length === 0) await new Promise((resolve) => setImmediate(resolve));
  const offered = line.offer('send', [[0]]);
  const read = t.rejects(line.read('read', [0]), { name: 'RpcError', kind: 'timeout' });
  await first;
  t.match(await offered, [{ status: 'rejected', reason: { kind: 'timeout' } }]);
  await read;
});

t.test('who says that it is asked too much is heard, once for each request, and who is only slow is not', async (t) => {
  const answers: [boolean, ReturnType<DoubleHandler>][] = [
    [true, { status: 429 }],
    [true, { error: { code: -32_005, message: 'limit exceeded' } }],
    [true, { error: { code: -32_000, message: 'Too many requests, slow down' }, status: 200 }],
    [false, { status: 503 }],
    [false, { error: { code: -32_000, message: 'execution timed out' } }],
    [false, 'hang-up'],
  ];
  for (const [isLimit, answer] of answers) {
    const { line, limits, failures } = await open(t, () => answer);
    await Promise.allSettled([line.read('read', [0]), line.read('read', [1])]);
    await line.offer('send', [[0]]);
    t.equal(limits.length, isLimit ? 2 : 0, JSON.stringify(answer));
    await t.rejects(line.read('trace', [0], { bestEffort: true }));
    t.equal(limits.length, isLimit ? 2 : 0, 'a best-effort read says nothing');
    t.equal(failures(), 2);
  }
});

t.test('nothing leaves while the endpoint is left alone, not even what waited for room before', async (t) => {
  const { promise: asked, resolve: release } = Promise.withResolvers<void>();
  const { line, double, hold, failures } = await open(
    t,
    async ({ params }) => {
      await asked;
      return { result: params[0] };
    },
    { maxCalls: 1 },
  );
  const first = line.read('read', [0]);
  while (double.calls.length === 0) await new Promise((resolve) => setImmediate(resolve));
  const limited = { name: 'RpcError', kind: 'limited', message: /not sent.*left alone for 2 s/ };
  const waiting = [t.rejects(line.read('read', [1]), limited), t.rejects(line.read('read', [2]), limited)];
  const offered = line.offer('send', [[3], [4]]);
  await new Promise((resolve) => setImmediate(resolve));
  hold(1_500);
  release();
  t.equal(await first, 0);
  await Promise.all(waiting);
  t.match(await offered, [{ reason: limited }, { reason: limited }]);
  await t.rejects(line.read('read', [5]), limited);
  t.match(await line.offer('send', [[6]]), [{ reason: limited }]);
  t.equal(double.calls.length, 1);
  t.equal(failures(), 0, 'what was not asked speaks against nobody');
  hold(0);
  t.equal(await line.read('read', [7]), 7);
});

t.test('where no other endpoint is ready, reads and offers wait until it may be asked again', async (t) => {
  const { line, double, hold, borne } = await open(t, echo, { timeoutMs: 60_000 });
  hold(20, true);
  const [read, offered] = [line.read('read', [1]), line.offer('send', [[2]])];
  await new Promise((resolve) => setTimeout(resolve, 60));
  t.equal(double.calls.length, 0);
  hold(0, true);
  t.equal(await read, 1);
  t.match(await offered, [{ value: 2 }]);
  t.equal(borne(), 2, 'one word for each request');
  hold(60_001, true);
  await t.rejects(
    line.read('read', [3]),
    { name: 'RpcError', kind: 'limited' },
    'longer than it would wait for an answer',
  );
  t.match(await line.offer('send', [[4]]), [{ reason: { kind: 'limited' } }]);
  hold(50_000, true);
  const [late, lateOffer] = [t.rejects(line.read('read', [5]), /closing/), line.offer('send', [[6]])];
  await new Promise((resolve) => setTimeout(resolve, 10));
  line.close();
  await late;
  t.match(await lateOffer, [{ reason: { message: /closing/ } }]);
  t.equal(double.calls.length, 2);
});

t.test('file descriptor growth: ten thousand calls keep to a few connections, with batches and without', async (t) => {
  for (const refuses of [false, true]) {
    const { double, readMany } = await open(t, echo);
    if (refuses) double.answerBatch(() => refusal);
    for (let round = 0; round < 5; round += 1) t.equal((await readMany(1_000)).length, 1_000);
    const ports = new Set(double.calls.map(({ remotePort }) => remotePort));
    t.ok(ports.size <= 64, `${ports.size} connections`);
  }
});

t.test('closing ends the waiting, twice over', async (t) => {
  const { line, double } = await open(t, () => 'silence', { maxCalls: 1, timeoutMs: 200 });
  const first = t.rejects(line.read('read', [0]), { name: 'RpcError', kind: 'timeout' });
  while (double.calls.length === 0) await new Promise((resolve) => setImmediate(resolve));
  const second = t.rejects(line.read('read', [1]), { kind: 'transport', message: /not sent/ });
  const offer = line.offer('send', [[2]]);
  line.close();
  line.close();
  await second;
  await first;
  t.match(await offer, [{ reason: { message: /not sent/ } }]);
  await t.rejects(line.read('read', [3]), { name: 'RpcError', kind: 'transport' });
  t.equal(double.calls.length, 1);
});

t.test('what was refused as a batch is not repeated once the line is closed', async (t) => {
  const { line, double } = await open(t, echo);
  double.answerBatch(() => {
    line.close();
    return refusal;
  });
  const settled = await Promise.allSettled(upTo(2).map((n) => line.read('read', [n])));
  t.ok(settled.every((entry) => entry.status === 'rejected' && /not sent/.test(String(entry.reason))));
  t.equal(double.requests.length, 1);
});
