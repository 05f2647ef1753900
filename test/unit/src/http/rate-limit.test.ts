import { fastify } from 'fastify';
import t from 'tap';
import { systemClock } from '../../../../src/domain/clock.ts';
import { createAuthenticator } from '../../../../src/http/access/authenticate.ts';
import { limitRate, subjectOfAddress } from '../../../../src/http/rate-limit.ts';
import { createLimits, type RateVerdict, TokenBuckets } from '../../../../src/http/rate-limiter.ts';
import { createLog } from '../../../../src/observability/log.ts';
import type { SharedTokenBuckets, TokenBucketAnswer, TokenBucketSize } from '../../../../src/store/instances.ts';
import { API_KEY, startHttp } from '../../../support/http-server.ts';
import { fc } from '../../../support/properties.ts';

t.test('the token bucket', async (t) => {
  /** Buckets on a clock that the test moves. */
  function start(settings: ConstructorParameters<typeof TokenBuckets>[0]) {
    const clock = { now: 0, elapsed: () => clock.now };
    return { clock, buckets: new TokenBuckets(settings, clock) };
  }

  t.test('gives its burst, then one token for each that comes back', async (t) => {
    const { clock, buckets } = start({ perSecond: 2, burst: 3 });
    t.strictSame(buckets.take('a'), { allowed: true, limit: 3, remaining: 2, resetSeconds: 1, retryAfterSeconds: 0 });
    t.match(buckets.take('a'), { allowed: true, remaining: 1 });
    t.match(buckets.take('a'), { allowed: true, remaining: 0, resetSeconds: 2 });
    t.match(buckets.take('a'), { allowed: false, remaining: 0, retryAfterSeconds: 1 });
    t.match(buckets.take('b'), { allowed: true }, 'subjects do not share');
    clock.now = 499;
    t.match(buckets.take('a'), { allowed: false });
    clock.now = 500;
    t.match(buckets.take('a'), { allowed: true, remaining: 0 });
    t.match(buckets.take('a'), { allowed: false }, 'refusals cost nothing and give nothing');
  });

  t.test('takes the rate of a key of its own, and tells how long to wait', async (t) => {
    const { clock, buckets } = start({ perSecond: 1, burst: 5 });
    const slow = { perSecond: 0.1, burst: 1 };
    t.match(buckets.take('key slow', slow), { allowed: true, limit: 1, remaining: 0, resetSeconds: 10 });
    t.match(buckets.take('key slow', slow), { allowed: false, retryAfterSeconds: 10 });
    t.match(buckets.take('key other'), { allowed: true, limit: 5, remaining: 4 });
    clock.now = 9_500;
    t.match(buckets.take('key slow', slow), { allowed: false, retryAfterSeconds: 1 });
    clock.now = 10_000;
    t.match(buckets.take('key slow', slow), { allowed: true });
  });

  t.test('gives several tokens together, or none', async (t) => {
    const { clock, buckets } = start({ perSecond: 2, burst: 5 });
    t.match(buckets.take('key a', undefined, 3), { allowed: true, remaining: 2 });
    t.match(buckets.take('key a', undefined, 3), { allowed: false, remaining: 2, retryAfterSeconds: 1 });
    t.match(buckets.take('key a', undefined, 2), { allowed: true, remaining: 0 }, 'the refusal cost nothing');
    t.match(buckets.take('key a', undefined, 5), { allowed: false, retryAfterSeconds: 3 });
    clock.now = 2_500;
    t.match(buckets.take('key a', undefined, 5), { allowed: true, remaining: 0 });
  });

  t.test('of a key outlasts a flood of addresses, whose number is bounded', async (t) => {
    const { clock, buckets } = start({ perSecond: 1, burst: 2, most: 100 });
    const flood = (round: number) => {
      for (let n = 0; n < 300; n += 1) buckets.take(`address 2001:db8:${round}:${n}::/64`);
    };
    buckets.take('key default');
    flood(1);
    t.match(buckets.take('key default'), { allowed: true, remaining: 0 });
    flood(2);
    flood(3);
    t.match(buckets.take('key default'), { allowed: false, remaining: 0, retryAfterSeconds: 1 });
    t.equal(buckets.size, 101, 'the addresses have their own room');
    clock.now = 60_000;
    t.match(buckets.take('key default'), { allowed: true, remaining: 1 }, 'and no fuller than full');
    buckets.take('address a');
    t.equal(buckets.size, 2, 'what is full again is forgotten');
  });

  t.test('in any second, whatever the pattern, gives no more than the burst and the rate', async (t) => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: 1, max: 50 }),
        fc.array(fc.integer({ min: 0, max: 300 }), { minLength: 1, maxLength: 200 }),
        (perSecond, burst, pauses) => {
          const { clock, buckets } = start({ perSecond, burst });
          let given = 0;
          for (const pause of pauses) {
            clock.now += pause;
            const verdict = buckets.take('a');
            given += verdict.allowed ? 1 : 0;
            if (verdict.remaining < 0 || verdict.remaining >= burst + 1) return false;
          }
          return given <= burst + (clock.now / 1000) * perSecond + 1e-6;
        },
      ),
    );
    t.pass('for every pattern that was tried');
  });
});

t.test('several instances', async (t) => {
  /** Shared buckets that give the answer the test sets. */
  function start(settings = {}) {
    const asked: [subject: string, size: TokenBucketSize, count: number | undefined][] = [];
    const shared = { answer: { allowed: true, missingUs: 0 } as TokenBucketAnswer | Error };
    const buckets: SharedTokenBuckets = {
      async take(...request) {
        asked.push(request as (typeof asked)[0]);
        if (shared.answer instanceof Error) throw shared.answer;
        return shared.answer;
      },
    };
    const lines: string[] = [];
    const log = createLog('warn', { write: (line) => lines.push(line) });
    const rates = {
      RATE_LIMIT_REQUESTS_PER_SECOND: 4,
      RATE_LIMIT_BURST_SIZE: 8,
      RELAYER_RATE_LIMIT_REQUESTS_PER_SECOND: 10,
      RELAYER_RATE_LIMIT_BURST_SIZE: 3,
      ...settings,
    };
    return { ...createLimits(rates, { buckets, clock: { elapsed: () => 0 }, log }), asked, shared, lines };
  }

  t.test('count keys together, each by its rate', async (t) => {
    const { limiter, asked, shared } = start();
    shared.answer = { allowed: true, missingUs: 500_000 };
    const allowed = { allowed: true, limit: 8, remaining: 6, resetSeconds: 1, retryAfterSeconds: 0 };
    t.strictSame(await limiter.take('key default'), allowed);
    shared.answer = { allowed: false, missingUs: 2_000_000 };
    t.match(await limiter.take('key default'), { allowed: false, remaining: 0, resetSeconds: 2, retryAfterSeconds: 1 });
    shared.answer = { allowed: false, missingUs: 1_500_000 };
    const several = await limiter.take('key default', undefined, 6);
    t.match(several, { allowed: false, remaining: 2, retryAfterSeconds: 1 }, '2 are there, 4 more take a second');
    shared.answer = { allowed: true, missingUs: 0 };
    t.match(await limiter.take('key own', { perSecond: 10, burst: 2 }), { limit: 2, remaining: 2 });
    const size = { tokenUs: 250_000, fullUs: 2_000_000 };
    t.strictSame(asked, [
      ['key default', size, 1],
      ['key default', size, 1],
      ['key default', size, 6],
      ['key own', { tokenUs: 100_000, fullUs: 200_000 }, 1],
    ]);
  });

  t.test('count relayers together, if they have a limit', async (t) => {
    const { relayerLimit, asked } = start();
    await relayerLimit?.take('r1');
    t.strictSame(asked, [['relayer r1', { tokenUs: 100_000, fullUs: 300_000 }, 1]]);
    t.equal(start({ RELAYER_RATE_LIMIT_REQUESTS_PER_SECOND: 0 }).relayerLimit, undefined);
  });

  t.test('count addresses each by itself: strangers cause no writes', async (t) => {
    const { limiter, asked } = start();
    t.match(await limiter.take('address 203.0.113.9'), { limit: 8, remaining: 7 });
    t.strictSame(asked, []);
  });

  t.test('count each by itself while the store is away, and say so', async (t) => {
    const { limiter, shared, lines } = start();
    shared.answer = new Error('connection refused');
    t.match(await limiter.take('key default'), { limit: 8, remaining: 7 });
    t.match(await limiter.take('key default'), { remaining: 6 });
    t.match(lines.join(''), 'connection refused');
  });
});

t.test('each relayer has its own bucket, and a refusal tells the limit and when to come back', async (t) => {
  let now = 0;
  const settings = {
    RATE_LIMIT_REQUESTS_PER_SECOND: 1_000,
    RATE_LIMIT_BURST_SIZE: 1_000,
    RELAYER_RATE_LIMIT_REQUESTS_PER_SECOND: 1,
    RELAYER_RATE_LIMIT_BURST_SIZE: 2,
  };
  const parts = { buckets: null, clock: { elapsed: () => now }, log: createLog('silent') };
  const { limiter, relayerLimit: limit } = createLimits(settings, parts);
  if (limit === undefined) throw new Error('there is no limit');
  await limit.take('r1');
  await limit.take('r1');
  await t.rejects(limit.take('r1'), {
    code: 'RELAYER_LIMITED',
    status: 429,
    publicMessage: 'Too Many Requests',
    message: 'Relayer r1 is rate limited: at most 1 requests a second, and 2 at once',
    retryAfterSeconds: 1,
  });
  await limit.take('r2');
  t.match(await limiter.take('key r1'), { remaining: 999 }, 'keys are counted apart');
  now = 1_000;
  await limit.take('r1');
  now = 2_000;
  await t.rejects(limit.take('r1', 2), { code: 'RELAYER_LIMITED', retryAfterSeconds: 1 }, 'both or none');
  await limit.take('r1');
  await t.rejects(limit.take('r1', 3), { code: 'INVALID_REQUEST', message: /3 calls are more than the 2/ });
});

t.test('an IPv6 address is counted by its /64, an IPv4 address by itself, also in IPv6 form', async (t) => {
  for (const [address, subject] of [
    ['203.0.113.9', 'address 203.0.113.9'],
    ['::ffff:203.0.113.9', 'address 203.0.113.9'],
    ['2001:db8:1:2:3:4:5:6', 'address 2001:db8:1:2::/64'],
    ['2001:db8:1:2:ffff::1', 'address 2001:db8:1:2::/64'],
    ['2001:db8:1:3::1', 'address 2001:db8:1:3::/64'],
    ['::1', 'address 0:0:0:0::/64'],
    ['', 'address '],
  ] as const) {
    t.equal(subjectOfAddress(address), subject);
  }
});

const LIST = '/api/v1/relayers';
/** As many addresses as the buckets have room for. */
const ADDRESSES = 500;

t.test('each answer says what is left, and too many are told when to come back', async (t) => {
  const { call, services } = await startHttp(t, { rate: { perSecond: 0.01, burst: 2 } });
  /** A machine under load may lose some seconds. */
  const about100 = /^(9\d|100)$/;
  const first = await call(LIST);
  t.equal(first.status, 200);
  t.equal(first.headers.get('ratelimit-limit'), '2');
  t.equal(first.headers.get('ratelimit-remaining'), '1');
  t.match(first.headers.get('ratelimit-reset'), about100);
  await call(LIST);
  const refused = await call(LIST);
  t.equal(refused.status, 429);
  const seconds = refused.headers.get('retry-after') ?? '';
  t.match(seconds, about100);
  t.equal(refused.headers.get('x-ratelimit-after'), seconds);
  t.equal(refused.headers.get('ratelimit-remaining'), '0');
  t.strictSame(refused.json, {
    success: false,
    data: null,
    error: 'Too Many Requests',
    message: 'Too Many Requests',
    code: 'TOO_MANY_REQUESTS',
    retryable: true,
    after: Number(seconds),
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
