import { createHash } from 'node:crypto';
import { fastify } from 'fastify';
import t, { type Test } from 'tap';
import { systemClock } from '../../../../src/domain/clock.ts';
import { FULL_ACCESS } from '../../../../src/features/api-keys/records/access.ts';
import type { AuthenticatedKey } from '../../../../src/http/access/authenticate.ts';
import { admitRequests, Drain } from '../../../../src/http/admission.ts';
import { NO_METRICS } from '../../../../src/observability/metrics.ts';

const KEY = 'k'.repeat(32);
const good = { authorization: `Bearer ${KEY}` };

function start(t: Test, allowed = true) {
  const app = fastify();
  const drain = new Drain();
  const subjects: string[] = [];
  const clientKeys = new Map<string, AuthenticatedKey>();
  admitRequests(app, {
    keys: { master: { id: 'default', key: KEY }, withHash: (hash) => clientKeys.get(hash) },
    drain,
    limiter: {
      take(subject) {
        subjects.push(subject);
        return { allowed, limit: 1, remaining: 0, resetSeconds: 1, retryAfterSeconds: 7 };
      },
    },
    metrics: NO_METRICS,
    clock: systemClock,
  });
  app.get('/private', (request) => request.keyId);
  app.get('/public', { config: { isPublic: true } }, (request) => `<${request.keyId}>`);
  app.get('/probe', { config: { isPublic: true, isProbe: true } }, () => 'alive');
  app.setErrorHandler((error: Error & { code: string }, _request, reply) => reply.code(499).send(error.code));
  t.teardown(() => app.close());
  return { app, drain, subjects, clientKeys };
}

t.test('who asks is known before how often', async (t) => {
  const { app, subjects } = start(t);
  t.equal((await app.inject({ url: '/private', headers: good })).body, 'default');
  t.equal((await app.inject({ url: '/private', headers: { authorization: 'Bearer other' } })).body, 'UNAUTHORIZED');
  t.equal((await app.inject('/public')).body, '<>');
  t.equal((await app.inject('/nowhere')).body, 'UNAUTHORIZED', 'a stranger learns of no route');
  t.strictSame(subjects, ['key default', 'address 127.0.0.1', 'address 127.0.0.1', 'address 127.0.0.1']);
});

t.test('a key is used by pages of its origins only, and by what is no page', async (t) => {
  const { app, clientKeys } = start(t);
  const digest = createHash('sha256').update('of a client').digest('hex');
  const key = { id: 'k1', access: FULL_ACCESS, rate: null, allowedOrigins: ['https://app.example'], expiresAt: null };
  clientKeys.set(digest, key);
  const ask = async (origin?: string) => {
    const headers = { authorization: 'Bearer of a client', ...(origin !== undefined && { origin }) };
    return (await app.inject({ url: '/private', headers })).body;
  };
  t.equal(await ask(), 'k1');
  t.equal(await ask('https://app.example'), 'k1');
  t.equal(await ask('https://other.example'), 'ORIGIN_NOT_ALLOWED');
  clientKeys.set(digest, { ...key, allowedOrigins: ['*'] });
  t.equal(await ask('https://other.example'), 'k1');
});

t.test('too many are refused before anything else is decided, probes excepted', async (t) => {
  const { app } = start(t, false);
  const refused = await app.inject('/private');
  t.equal(refused.body, 'TOO_MANY_REQUESTS');
  t.equal(Number(refused.headers['x-ratelimit-after']), 7);
  t.equal((await app.inject('/probe')).body, 'alive');
});

t.test('draining lets nobody in but the probes and ends their connections', async (t) => {
  const { app, drain } = start(t);
  await drain.start(0);
  for (const url of ['/private', '/public', '/nowhere']) {
    const answer = await app.inject({ url, headers: good });
    t.equal(answer.body, 'UNAVAILABLE');
    t.equal(answer.headers.connection, 'close');
  }
  t.equal((await app.inject('/probe')).body, 'alive');
});
