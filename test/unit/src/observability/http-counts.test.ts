import t from 'tap';
import { createMetrics } from '../../../../src/observability/metrics.ts';

t.test('HTTP requests have the names and labels of the reference', async (t) => {
  const metrics = createMetrics();
  metrics.http.began('/api/v1/relayers/:id');
  metrics.http.began('/api/v1/relayers/:id');
  metrics.http.ended({ endpoint: '/api/v1/relayers/:id', method: 'GET', status: 404, seconds: 0.003 });
  metrics.http.timedOut('/x', 'POST');
  metrics.http.pluginCalled('echo', 'POST', 200);
  const text = await metrics.text();
  const labels = 'endpoint="/api/v1/relayers/:id",method="GET",status="404"';
  t.match(text, `isolayer_http_requests_total{${labels}} 1`);
  t.match(text, `isolayer_http_request_duration_seconds_bucket{le="0.005",${labels}} 1`);
  t.match(text, 'isolayer_http_requests_in_flight{endpoint="/api/v1/relayers/:id"} 1');
  t.match(text, 'isolayer_http_request_timeouts_total{endpoint="/x",method="POST",timeout_type="handler"} 1');
  t.match(text, 'isolayer_plugin_calls_total{plugin_id="echo",method="POST",status="200"} 1');
});

t.test('requests with a key are counted by what they met', async (t) => {
  const metrics = createMetrics();
  metrics.http.keyed('first');
  metrics.http.keyed('replayed');
  metrics.http.keyed('replayed');
  const text = await metrics.text();
  t.match(text, 'isolayer_idempotency_requests_total{result="first"} 1');
  t.match(text, 'isolayer_idempotency_requests_total{result="replayed"} 2');
});
