import t, { type Test } from 'tap';
import { createMetricsServer } from '../../../../../src/http/routes/metrics.ts';
import { createMetrics } from '../../../../../src/observability/metrics.ts';
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

async function start(t: Test) {
  const metrics = createMetrics();
  const server = createMetricsServer(metrics);
  t.teardown(() => server.close(0));
  const url = await server.listen({ host: '127.0.0.1', port: 0, variable: 'METRICS_PORT' });
  return { metrics, server, url };
}

t.test('everything without a key, at the usual path and at the one of the reference', async (t) => {
  const { metrics, url } = await start(t);
  metrics.count('lane_faults', { network_type: 'evm' });
  for (const path of ['/metrics', '/debug/metrics/scrape']) {
    const answer = await fetch(`${url}${path}`);
    t.equal(answer.status, 200);
    t.equal(answer.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
    t.equal(answer.headers.get('x-content-type-options'), 'nosniff');
    t.match(await answer.text(), '\nisolayer_lane_faults_total{network_type="evm"} 1\n');
  }
  const one = await fetch(`${url}/metrics/isolayer_lane_faults_total`);
  t.match(await one.text(), /^# HELP isolayer_lane_faults_total [^]*\n$/);
});

t.test('a client that asks for JSON gets the names, and Prometheus everything', async (t) => {
  const { url } = await start(t);
  const named = await fetch(`${url}/metrics`, { headers: { accept: 'application/json, text/plain, */*' } });
  t.match(named.headers.get('content-type'), /^application\/json/);
  t.ok(((await named.json()) as string[]).includes('isolayer_lane_faults_total'));
  const accept = 'application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1';
  const scraped = await fetch(`${url}/metrics`, { headers: { accept } });
  t.match(scraped.headers.get('content-type'), /^text\/plain/);
});

t.test('nothing else', async (t) => {
  const { url } = await start(t);
  for (const [path, method, status] of [
    ['/metrics/nothing', 'GET', 404],
    ['/api/v1/relayers', 'GET', 404],
    ['/metrics', 'POST', 404],
  ] as const) {
    const answer = await fetch(`${url}${path}`, { method });
    t.equal(answer.status, status, `${method} ${path}`);
    t.match(await answer.json(), { success: false, data: null });
  }
});

t.test('closes although somebody keeps a connection', async (t) => {
  const { server, url } = await start(t);
  await (await fetch(`${url}/metrics`)).text();
  await Promise.all([server.close(0), server.close(0)]);
  await t.rejects(fetch(`${url}/metrics`));
});
