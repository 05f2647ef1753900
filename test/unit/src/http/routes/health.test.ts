import t from 'tap';
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
  const ready = await well.call('/api/v1/ready', anonymous);
  t.equal(ready.status, 200);
  t.match(ready.json, { ready: true, status: 'healthy', components: { store: { status: 'healthy' } } });
  t.match(ready.text, '1152921504606846976', 'big integers keep their digits');

  const ill = await startHttp(t, { checks: { store: () => ({ status: 'unhealthy', error: 'disk full' }) } });
  const unready = await ill.call('/api/v1/ready', anonymous);
  t.equal(unready.status, 503);
  t.match(unready.json, { ready: false, status: 'unhealthy', reason: 'disk full' });
});
