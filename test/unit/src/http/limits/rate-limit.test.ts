import { fastify } from 'fastify';
import t from 'tap';
import { systemClock } from '../../../../../src/domain/clock.ts';
import { createAuthenticator } from '../../../../../src/http/access/auth.ts';
import { limitRate, type RateVerdict } from '../../../../../src/http/limits/rate-limit.ts';
import { TokenBuckets } from '../../../../../src/http/limits/token-buckets.ts';
import { API_KEY, startHttp } from '../../../../support/http-server.ts';

const LIST = '/api/v1/relayers';
/** As many addresses as the buckets have room for. */
const ADDRESSES = 500;

t.test('each answer says what is left, and too many are told when to come back', async (t) => {
  const { call, services } = await startHttp(t, { rate: { perSecond: 0.5, burst: 2 } });
  const first = await call(LIST);
  t.equal(first.status, 200);
  t.equal(first.headers.get('ratelimit-limit'), '2');
  t.equal(first.headers.get('ratelimit-remaining'), '1');
  t.equal(first.headers.get('ratelimit-reset'), '2');
  await call(LIST);
  const refused = await call(LIST);
  t.equal(refused.status, 429);
  t.equal(refused.headers.get('retry-after'), '2');
  t.equal(refused.headers.get('x-ratelimit-after'), '2');
  t.equal(refused.headers.get('ratelimit-remaining'), '0');
  t.strictSame(refused.json, {
    success: false,
    data: null,
    error: 'Too Many Requests',
    message: 'Too Many Requests',
    code: 'TOO_MANY_REQUESTS',
    retryable: true,
    after: 2,
  });
  t.equal(services.relayers.asked.length, 2, 'what is refused costs nothing further');
});

t.test('made-up keys share the bucket of their address, and a good key is served meanwhile', async (t) => {
  const { call } = await startHttp(t, { rate: { perSecond: 0.001, burst: 3 } });
  const statuses: number[] = [];
  for (let n = 0; n < 6; n += 1) {
    statuses.push((await call(LIST, { headers: { authorization: `Bearer made-up-${n}` } })).status);
  }
  t.strictSame(statuses, [401, 401, 401, 429, 429, 429]);
  t.equal((await call(LIST, { headers: { authorization: `Bearer ${API_KEY}` } })).status, 200);
});

t.test(
  'a key that is used up stays so while as many addresses ask as there is room for, and made-up keys take no room beside it',
  async (t) => {
    const buckets = new TokenBuckets({ perSecond: 0.001, burst: 2, most: ADDRESSES }, systemClock);
    const app = fastify();
    t.teardown(() => app.close());
    app.decorateRequest('keyId', '');
    app.decorateRequest('identity', null);
    const keys = { master: { id: 'default', key: API_KEY }, withHash: () => undefined };
    const authenticate = createAuthenticator(keys, () => 0);
    app.addHook('onRequest', async (request) => {
      request.keyId = authenticate(request.raw.rawHeaders)?.id ?? '';
    });
    limitRate(app, buckets);
    app.get('/', () => 'served');
    const ask = async (key: string, remoteAddress: string) =>
      (await app.inject({ url: '/', remoteAddress, headers: { authorization: `Bearer ${key}` } })).statusCode;

    t.strictSame([await ask(API_KEY, '192.0.2.1'), await ask(API_KEY, '192.0.2.2')], [200, 200]);
    for (let n = 0; n < ADDRESSES; n += 1) await ask(`made-up-${n}`, `10.1.${n >> 8}.${n & 255}`);
    t.equal(buckets.size, ADDRESSES + 1, 'each made-up key is counted by its address');
    t.equal(await ask('made-up-again', '192.0.2.3'), 200);
    t.equal(await ask(API_KEY, '192.0.2.3'), 429);
  },
);

t.test('plugin calls are limited, with the text that their clients know; probes never are', async (t) => {
  const { call, post } = await startHttp(t, { rate: { perSecond: 0.001, burst: 1 } });
  t.equal((await post('/api/v1/plugins/echo/call', '{}')).status, 200);
  const refused = await post('/api/v1/plugins/echo/call', '{}');
  t.equal(refused.status, 429);
  t.match(refused.json, { success: false, error: 'Too Many Requests' });
  for (let n = 0; n < 5; n += 1) {
    const probe = await call('/api/v1/health', { headers: { authorization: '' } });
    t.equal(probe.status, 200);
    t.equal(probe.headers.get('ratelimit-limit'), null);
  }
});

t.test('a limiter that asks elsewhere is waited for, and its failure is an error of the request', async (t) => {
  const app = fastify();
  t.teardown(() => app.close());
  let answer: Promise<RateVerdict> = Promise.reject(new Error('store away'));
  app.decorateRequest('keyId', '');
  limitRate(app, { take: () => answer });
  app.get('/', () => 'served');
  t.equal((await app.inject('/')).statusCode, 500);
  answer = Promise.resolve({ allowed: true, limit: 5, remaining: 4, resetSeconds: 1, retryAfterSeconds: 0 });
  const served = await app.inject('/');
  t.equal(served.body, 'served');
  t.equal(Number(served.headers['ratelimit-remaining']), 4);
});
