import { hash } from 'node:crypto';
import t from 'tap';
import { Access } from '../../../../../src/features/api-keys/records/access.ts';
import { startHttp } from '../../../../support/http-server.ts';

const anonymous = { headers: { authorization: '' } };

t.test('the liveness probe is a JSON string and needs no key', async (t) => {
  const { call } = await startHttp(t);
  const answer = await call('/api/v1/health', anonymous);
  t.equal(answer.status, 200);
  t.equal(answer.text, '"OK"');
  t.match(answer.headers.get('content-type'), /^application\/json/);
  t.equal((await call('/api/v1/health', { method: 'HEAD', ...anonymous })).status, 200);
});

t.test('readiness shows the parts, bare, with 503 when one is down', async (t) => {
  const well = await startHttp(t, { checks: { store: () => ({ status: 'healthy', rows: 2n ** 60n }) } });
  const ready = await well.call('/api/v1/ready');
  t.equal(ready.status, 200);
  t.match(ready.json, { ready: true, status: 'healthy', components: { store: { status: 'healthy' } } });
  t.match(ready.text, '1152921504606846976', 'big integers keep their digits');

  const ill = await startHttp(t, { checks: { store: () => ({ status: 'unhealthy', error: 'disk full' }) } });
  const unready = await ill.call('/api/v1/ready');
  t.equal(unready.status, 503);
  t.match(unready.json, { ready: false, status: 'unhealthy', reason: 'disk full' });
});

const CHECKS = {
  store: () => ({ status: 'healthy' as const, warnings: ['the standby at /secret/path'] }),
  system: () => ({ status: 'healthy' as const, fd_count: 7 }),
  networks: () => ({
    status: 'unhealthy' as const,
    error: 'http://10.0.0.1 refused',
    unreached: [{ relayer_id: 'r3' }],
  }),
  plugins: () => ({ status: 'degraded' as const, unfit: [{ id: 'payouts', reason: 'payouts.ts:3' }] }),
};

t.test('without a key readiness has nothing but status words, by our names and those of the peer', async (t) => {
  const { call, url, clientKeys } = await startHttp(t, { checks: CHECKS });
  const words = (status: string) => ({ status });
  const bare = {
    ready: false,
    status: 'unhealthy',
    reason: 'networks is unhealthy',
    components: {
      store: words('healthy'),
      system: words('healthy'),
      networks: words('unhealthy'),
      plugins: words('degraded'),
      redis: words('healthy'),
      queue: words('healthy'),
    },
  };
  const { timestamp, ...shown } = (await call('/api/v1/ready', anonymous)).json as Record<string, unknown>;
  t.type(timestamp, 'string');
  t.strictSame(shown, bare);
  t.match((await call('/api/v1/ready', { headers: { authorization: 'Bearer wrong' } })).json, bare);

  const as = async (...permissions: string[]) => {
    const key = `iso_${permissions.join()}`;
    const access = new Access(permissions);
    const rest = { rate: null, allowedOrigins: ['*'], expiresAt: null };
    clientKeys.set(hash('sha256', key), { id: key, access, ...rest });
    const answer = await fetch(`${url}/api/v1/ready`, { headers: { authorization: `Bearer ${key}` } });
    return (await answer.json()) as object;
  };
  t.notMatch(JSON.stringify(await as('relayers:r1:read', 'plugins:*:read')), /r3|payouts|10\.0\.|secret/);
  const whole = await as('relayers:*:read', 'plugins:*:call');
  t.match(whole, {
    reason: 'http://10.0.0.1 refused',
    components: {
      system: { fd_count: 7 },
      networks: { unreached: [{ relayer_id: 'r3' }] },
      plugins: { enabled: true, unfit: [{ id: 'payouts' }] },
      store: { warnings: [/secret/] },
      redis: { status: 'healthy', primary_pool: { connected: true, available: 0, max_size: 0 } },
    },
  });
});
