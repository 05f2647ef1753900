/**
 * Threat: a client repeats a request, because an answer was lost or slow, and pays twice. Or it uses a key for another
 * request. Or a repeat is refused although the first request had its effect.
 */
import { randomUUID } from 'node:crypto';
import { type FastifyReply, fastify } from 'fastify';
import t, { type Test } from 'tap';
import { systemClock } from '../../../../src/domain/clock.ts';
import { AppError } from '../../../../src/domain/errors.ts';
import { honourIdempotencyKeys } from '../../../../src/http/idempotency-hook.ts';
import { IdempotencyKeys, type KeyedStart } from '../../../../src/http/idempotency-keys.ts';
import { createLog } from '../../../../src/observability/log.ts';
import { API_KEY, sendRaw, startHttp } from '../../../support/http-server.ts';

const SEND = '/api/v1/relayers/r1/transactions';
const CALL = '/api/v1/plugins/echo/call';
const keyed = (key: string) => ({ 'idempotency-key': key });

t.test('what is shown once is kept nowhere: its repeat is told so', async (t) => {
  const { post, services } = await startHttp(t);
  const made = await post('/api/v1/api-keys', '{"id":"k"}', { 'idempotency-key': 'secret' });
  t.match([made.status, made.json], [201, { data: { key: 'a fresh key' } }]);
  const again = await post('/api/v1/api-keys', '{"id":"k"}', { 'idempotency-key': 'secret' });
  t.match(
    [again.status, again.json],
    [409, { error: /answered with status 201\. That answer is not stored any more/ }],
  );
  t.equal(services.resources.api_key.callers.length, 1);
});

t.test('a repeat gets the first answer, and nothing runs again', async (t) => {
  const { post, services } = await startHttp(t);
  const first = await post(SEND, '{"to":"0x1","value":1}', keyed('k-1'));
  const again = await post(SEND, ' { "value": 1, "to": "0x1" } ', keyed('k-1'));
  t.equal(first.status, 200);
  t.equal(first.headers.get('idempotency-replayed'), null);
  t.strictSame([again.status, again.text], [200, first.text]);
  t.equal(again.headers.get('idempotency-replayed'), 'true');
  t.equal(again.headers.get('content-type'), first.headers.get('content-type'));
  t.equal(services.transactions.sent.length, 1);
  t.match(services.transactions.effects, [
    { claim: { id: /^[0-9a-f-]{36}$/, token: 1 }, occurrence: 0, payloadHash: /^[0-9a-f]{64}$/, isStep: false },
  ]);
});

t.test('the status is repeated too, and other methods than POST are safe to repeat', async (t) => {
  const { post, call, services } = await startHttp(t);
  const create = () => post('/api/v1/notifications', '{"id":"n1","url":"https://example.com"}', keyed('create'));
  t.strictSame([(await create()).status, (await create()).status], [201, 201]);
  const remove = () => call('/api/v1/notifications/n1', { method: 'DELETE', headers: keyed('remove') });
  t.strictSame([(await remove()).status, (await remove()).status], [200, 200]);
  t.equal(services.resources.notification.known.size, 0);
});

t.test('without the header each request is its own, and a read ignores it', async (t) => {
  const { post, call, services } = await startHttp(t);
  await post(SEND, '{}');
  await post(SEND, '{}');
  t.strictSame(services.transactions.effects, [undefined, undefined]);
  for (let round = 0; round < 2; round += 1) {
    const read = await call('/api/v1/relayers/r1', { headers: keyed('not even a key') });
    t.strictSame([read.status, read.headers.get('idempotency-replayed')], [200, null]);
  }
});

t.test('a key that is none, or two, is a 400 before anything happens', async (t) => {
  const { post, port, services } = await startHttp(t);
  for (const key of ['a b', 'k'.repeat(256), '']) {
    const { status, json } = await post(SEND, '{}', keyed(key));
    t.equal(status, 400);
    t.match(json, { error: /^Idempotency-Key: must be 1 to 255/ });
  }
  const head = `POST ${SEND} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${API_KEY}\r\nconnection: close\r\n`;
  const two =
    'idempotency-key: a\r\nIdempotency-Key: b\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}';
  t.match(await sendRaw(port, head + two), /^HTTP\/1.1 400 [\s\S]*Idempotency-Key: must be given once/);
  t.strictSame(services.transactions.sent, []);
});

t.test('another body, path, query or method under the key is refused', async (t) => {
  const { post, call, services } = await startHttp(t);
  await post(SEND, '{"value":1}', keyed('k'));
  const others = [
    await post(SEND, '{"value":2}', keyed('k')),
    await post(`${SEND}?a=1`, '{"value":1}', keyed('k')),
    await post('/api/v1/relayers/r2/transactions', '{"value":1}', keyed('k')),
    await call('/api/v1/relayers/r1', { method: 'PATCH', body: '{"value":1}', headers: { ...json, ...keyed('k') } }),
  ];
  for (const { status, json } of others) {
    t.equal(status, 409);
    t.match(json, { error: 'The Idempotency-Key was used for another request; give each request its own key' });
  }
  t.equal(services.transactions.sent.length, 1);
});
const json = { 'content-type': 'application/json' };

t.test('a request that is repeated while it runs is answered with it', async (t) => {
  const { post, services } = await startHttp(t);
  const running = Promise.withResolvers<void>();
  const finish = Promise.withResolvers<void>();
  services.transactions.onSend = async () => {
    running.resolve();
    await finish.promise;
    return { id: 'tx-9' };
  };
  const first = post(SEND, '{}', keyed('k'));
  await running.promise;
  const repeats = [post(SEND, '{}', keyed('k')), post(SEND, '{}', keyed('k'))];
  finish.resolve();
  t.match((await first).json, { data: { id: 'tx-9' } });
  for (const { text, headers } of await Promise.all(repeats)) {
    t.equal(text, (await first).text);
    t.equal(headers.get('idempotency-replayed'), 'true');
  }
  t.equal(services.transactions.sent.length, 1);
});

t.test('what was refused, or failed, without an effect can be tried again', async (t) => {
  const { post, services } = await startHttp(t);
  const failures: AppError[] = [
    new AppError('INVALID_REQUEST', { reason: 'no' }),
    new AppError('RELAYER_PAUSED', {}),
    new AppError('UNAVAILABLE', { reason: 'later' }),
  ];
  for (const failure of failures) {
    services.transactions.onSend = () => Promise.reject(failure);
    t.equal((await post(SEND, '{}', keyed('k'))).status, failure.status);
  }
  t.equal((await post(SEND, 'no json', keyed('k'))).status, 400);
  t.equal((await post('/api/v1/relayers/r1', '{}', keyed('k'))).status, 405);
  services.transactions.onSend = async () => ({ id: 'tx-1' });
  t.equal((await post(SEND, '{"other":1}', keyed('k'))).status, 200, 'the key is free, also for another body');
  t.equal(new Set(services.transactions.effects.map((effect) => effect?.claim.id)).size, 4);
});

t.test('a failure after an effect runs again under the same claim', async (t) => {
  const { post, services, store } = await startHttp(t);
  services.transactions.onSend = async () => {
    const effect = services.transactions.effects.at(-1);
    if (effect !== undefined) await store.write((writer) => writer.insertEffect(effect, { outcome: 1 }));
    throw new Error('the answer is lost');
  };
  t.equal((await post(SEND, '{}', keyed('k'))).status, 500);
  services.transactions.onSend = async () => ({ id: 'tx-1' });
  t.equal((await post(SEND, '{}', keyed('k'))).status, 200);
  const [first, second] = services.transactions.effects;
  t.same(second, { ...first, claim: { id: first?.claim.id, token: 2 } });
});

/**
 * A request with a key whose handler has begun. The time limit starts before the key is claimed, so on a busy machine
 * it may end first. Then another request is tried.
 */
async function begunRequest({ post }: Awaited<ReturnType<typeof startHttp>>, hasBegun: Promise<void>) {
  for (let attempt = 1; ; attempt += 1) {
    const key = `k-${attempt}`;
    const answer = post(SEND, '{}', keyed(key));
    const early = await Promise.race([hasBegun, answer]);
    if (early === undefined) return { key, answer };
    if (early.status !== 504) throw new Error(`answered with ${early.status} before its handler began`);
  }
}

t.test('a handler that is given up can have no effect any more', async (t) => {
  const http = await startHttp(t, { limits: { handlerSeconds: 0.1 } });
  const { services, store } = http;
  const running = Promise.withResolvers<void>();
  const late = Promise.withResolvers<void>();
  const noted = Promise.withResolvers<PromiseSettledResult<void>[]>();
  services.transactions.onSend = async () => {
    running.resolve();
    await late.promise;
    const effect = services.transactions.effects[0];
    if (effect === undefined) throw new Error('no key');
    noted.resolve(await Promise.allSettled([store.write((writer) => writer.insertEffect(effect, { outcome: 1 }))]));
    return {};
  };
  const { answer } = await begunRequest(http, running.promise);
  t.equal((await answer).status, 504);
  late.resolve();
  t.match(await noted.promise, [{ status: 'rejected', reason: { code: 'IDEMPOTENCY_RUNNING' } }]);
});

t.test('a time limit that ends the wait for another run lets nothing begin', async (t) => {
  const http = await startHttp(t, { limits: { handlerSeconds: 0.3 } });
  const { post, services } = http;
  const running = Promise.withResolvers<void>();
  services.transactions.onSend = () => {
    running.resolve();
    return new Promise(() => {});
  };
  const { key, answer: first } = await begunRequest(http, running.promise);
  const second = post(SEND, '{}', keyed(key));
  const statuses = [(await first).status, (await second).status];
  t.equal(statuses[0], 504);
  t.equal(statuses[1], 504);
  t.ok(services.transactions.sent.length <= 2);
});

t.test('a plugin sees no key; its call runs under a claim, and its answer is repeated byte by byte', async (t) => {
  const { post, call, pluginHost } = await startHttp(t);
  const first = await post(CALL, '{"a":1}', keyed('k'));
  const again = await post(CALL, '{"a":1}', keyed('k'));
  t.equal(again.text, first.text);
  t.equal(again.headers.get('idempotency-replayed'), 'true');
  t.equal(pluginHost.calls.length, 1);
  const [{ request } = { request: undefined }] = pluginHost.calls;
  t.match(request?.claim?.id, /^[0-9a-f-]{36}$/);
  t.notOk(Object.keys(request?.headers ?? {}).includes('idempotency-key'));
  await call(`${CALL}?route=/x`, { headers: keyed('get') });
  await call(`${CALL}?route=/x`, { headers: keyed('get') });
  t.equal(pluginHost.calls.length, 2, 'a GET runs the plugin too');
});

t.test(
  "a plugin's refusal is repeated after an effect, and runs again without one; its failures run again",
  async (t) => {
    const { post, pluginHost, store } = await startHttp(t);
    const act = { status: 422, hasEffect: false };
    let occurrence = 0;
    pluginHost.onCall = async ({ claim = { id: '', token: 0 } }) => {
      const effect = { claim, payloadHash: 'p', occurrence: occurrence++, isStep: true };
      if (act.hasEffect) await store.write((writer) => writer.insertEffect(effect, { outcome: 1 }));
      return { status: act.status, body: `{"call":${pluginHost.calls.length}}` };
    };
    const ask = async () => (await post(CALL, '{}', keyed('k'))).text;
    t.strictSame([await ask(), await ask()], ['{"call":1}', '{"call":2}']);
    act.hasEffect = true;
    act.status = 503;
    t.strictSame([await ask(), await ask()], ['{"call":3}', '{"call":4}']);
    act.status = 422;
    t.strictSame([await ask(), await ask()], ['{"call":5}', '{"call":5}']);
  },
);

t.test('an answer that is no text is not repeated as an empty one', async (t) => {
  const { app } = await ownRoutes(t);
  app.post('/bytes', () => Buffer.from('done'));
  app.post('/nothing', (_request, reply) => reply.code(204).send());
  const ask = (url: string) => app.inject({ method: 'POST', url, headers: keyed(url.slice(1)) });
  t.match(await ask('/bytes'), { statusCode: 200, body: 'done' });
  t.match(await ask('/bytes'), { statusCode: 409 });
  t.match(await ask('/nothing'), { statusCode: 204, body: '' });
  t.match(await ask('/nothing'), { statusCode: 204, body: '', headers: { 'idempotency-replayed': 'true' } });
});

/** Routes of this test that support idempotency keys, and the keys themselves. */
async function ownRoutes(t: Test) {
  const { store } = await startHttp(t);
  const log = createLog('error', { write: () => {} });
  const timing = { claimMs: 60_000, renewMs: 60_000, waitMs: 60_000, askMs: 60_000 };
  const keys = new IdempotencyKeys({ store, clock: systemClock, log, newId: randomUUID, timing });
  t.teardown(() => keys.close());
  const app = fastify();
  t.teardown(() => app.close());
  app.decorateRequest('keyId', 'caller');
  honourIdempotencyKeys(app, keys);
  return { app, keys };
}

t.test('a request that was answered while it waited for its turn gives the turn back', async (t) => {
  const { app, keys } = await ownRoutes(t);
  const begun: Promise<KeyedStart>[] = [];
  const begin = keys.begin.bind(keys);
  const waits = Promise.withResolvers<void>();
  keys.begin = (request, isGone) => {
    const looked = () => {
      const isNow = isGone();
      waits.resolve();
      return isNow;
    };
    const one = begin(request, looked);
    begun.push(one);
    return one;
  };
  const replies: FastifyReply[] = [];
  app.addHook('onRequest', async (_request, reply) => void replies.push(reply));
  const first = Promise.withResolvers<string>();
  let runs = 0;
  app.post('/act', async () => (++runs === 1 ? first.promise : 'done'));
  const post = () => app.inject({ method: 'POST', url: '/act', headers: keyed('k') });
  const failing = post();
  while (runs === 0) await new Promise((resolve) => setImmediate(resolve));
  const late = post();
  await waits.promise;
  replies[1]?.code(504).send('too late');
  t.match(await late, { statusCode: 504 });
  first.reject(new Error('no'));
  t.match(await failing, { statusCode: 500 });
  t.match(await begun[1], { kind: 'run' }, 'it is its turn now, when nobody waits for it');
  t.match(await post(), { statusCode: 200, body: 'done' });
  t.equal(runs, 2);
});

t.test('another method is another request', async (t) => {
  const { app } = await ownRoutes(t);
  for (const method of ['POST', 'PUT', 'DELETE'] as const)
    app.route({ method, url: '/it', handler: async () => method });
  const ask = (method: 'POST' | 'PUT' | 'DELETE', key: string) =>
    app.inject({ method, url: '/it', headers: keyed(key), payload: {} });
  t.match(await ask('POST', 'k'), { statusCode: 200, body: 'POST' });
  t.match(await ask('PUT', 'k'), { statusCode: 409 });
  t.match(await ask('DELETE', 'k'), { statusCode: 409 });
  t.match(await ask('PUT', 'other'), { statusCode: 200, body: 'PUT' });
  t.match(await ask('POST', 'k'), { body: 'POST', headers: { 'idempotency-replayed': 'true' } });
});

t.test("a node's refusal of a passed-through call is not the last word", async (t) => {
  const { post, services } = await startHttp(t);
  const RPC = '/api/v1/relayers/r1/rpc';
  services.rpc.outcome = { jsonrpc: '2.0', error: { code: -33_000, message: 'Request timeout', description: '' } };
  t.match((await post(RPC, '{"method":"eth_sendRawTransaction"}', keyed('k'))).json, { error: { code: -33_000 } });
  services.rpc.outcome = { jsonrpc: '2.0', result: '0xhash' };
  for (let round = 0; round < 2; round += 1) {
    t.match((await post(RPC, '{"method":"eth_sendRawTransaction"}', keyed('k'))).json, { result: '0xhash' });
  }
  t.equal(services.rpc.calls, 2);
});
