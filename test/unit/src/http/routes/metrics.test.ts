import t from 'tap';
import { startHttp } from '../../../../support/http-server.ts';

t.test('behind the key: the names, one family, everything', async (t) => {
  const { call } = await startHttp(t);
  const names = await call('/api/v1/metrics');
  t.ok(
    Array.isArray(names.json) && names.json.includes('isolayer_http_requests_total'),
    'a bare array, as the reference answers',
  );
  const one = await call('/api/v1/metrics/process_cpu_seconds_total');
  t.equal(one.status, 200);
  t.match(one.headers.get('content-type'), /^text\/plain; version=0\.0\.4/);
  t.match(one.text, /^# HELP process_cpu_seconds_total .*\n# TYPE process_cpu_seconds_total counter\n/);
  const all = await call('/api/v1/debug/metrics/scrape');
  t.match(all.text, '# TYPE isolayer_http_requests_total counter');
  t.equal((await call('/api/v1/debug/metrics/scrape', { headers: { authorization: '' } })).status, 401);
});

t.test('a metric that there is not is 404, in the envelope', async (t) => {
  const { call } = await startHttp(t);
  const answer = await call('/api/v1/metrics/nothing');
  t.equal(answer.status, 404);
  t.match(answer.json, { success: false, data: null, error: 'Metric nothing not found' });
});
