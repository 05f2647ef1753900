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
  const labels = 'endpoint="/api/v1/relayers/:id",method="GET",status="404 Not Found"';
  t.match(text, `requests_total{${labels}} 1`);
  t.match(text, `error_requests_total{${labels}} 1`);
  t.match(text, `request_latency_seconds_bucket{le="0.005",${labels}} 1`);
  t.match(text, 'in_flight_requests{endpoint="/api/v1/relayers/:id"} 1');
  t.match(text, 'request_timeouts_total{endpoint="/x",method="POST",timeout_type="handler"} 1');
  t.match(text, 'plugin_calls_total{plugin_id="echo",method="POST",status="200"} 1');
});

t.test('plugins: ends, capabilities, processes', async (t) => {
  const metrics = createMetrics();
  metrics.plugins.callEnded('echo', 'CPU_LIMIT', 0.5);
  metrics.plugins.capabilityCalled('echo', 'kv.get', 'refused');
  metrics.plugins.processKilled('echo', 'overdue');
  metrics.plugins.load({ processes: 3, running: 2, queued: 1 });
  const text = await metrics.text();
  t.match(text, 'plugin_call_outcomes_total{plugin_id="echo",outcome="CPU_LIMIT"} 1');
  t.match(text, 'plugin_call_seconds_sum{plugin_id="echo"} 0.5');
  t.match(text, 'plugin_capability_calls_total{plugin_id="echo",method="kv.get",answer="refused"} 1');
  t.match(text, 'plugin_process_ends_total{plugin_id="echo",cause="overdue"} 1');
  t.match(text, /^plugin_processes 3$/m);
  t.match(text, /^plugin_calls_running 2$/m);
  t.match(text, /^plugin_calls_queued 1$/m);
});

t.test('transactions and relayers', async (t) => {
  const metrics = createMetrics();
  const move = { networkType: 'evm', relayerId: 'r1' };
  metrics.engine.moved({ ...move, from: 'sent', to: 'submitted' });
  metrics.engine.moved({ ...move, from: 'submitted', to: 'mined' });
  metrics.engine.moved({ ...move, from: 'mined', to: 'submitted' });
  metrics.engine.moved({ ...move, from: 'mined', to: 'confirmed' });
  metrics.engine.moved({ ...move, from: 'pending', to: 'expired' });
  metrics.engine.stepFailed('evm');
  metrics.engine.relayerChecked('r1', true);
  metrics.engine.relayerChecked('r2', false);
  const text = await metrics.text();
  const labels = 'relayer_id="r1",network_type="evm"';
  t.match(text, `transactions_submitted_total{${labels}} 1`);
  t.match(text, `transactions_success_total{${labels}} 1`);
  t.match(text, `transactions_failed_total{${labels},failure_reason="expired",previous_status="pending"} 1`);
  t.match(text, `transaction_transitions_total{${labels},from="mined",to="submitted"} 1`);
  t.match(text, 'lane_faults_total{network_type="evm"} 1');
  t.match(text, 'relayer_healthy{relayer_id="r1"} 1');
  t.match(text, 'relayer_healthy{relayer_id="r2"} 0');
});

t.test('callers of the pass-through cannot make up labels without end', async (t) => {
  const metrics = createMetrics();
  const call = { endpoint: 'https://a.test', outcome: 'ok', ms: 20 };
  metrics.rpc.called({ ...call, method: 'eth_call', outcome: 'timeout' });
  for (let n = 0; n < 200; n += 1) metrics.rpc.called({ ...call, method: `made_up_${n}` });
  metrics.rpc.called({ ...call, method: 'a"b\n' });
  const text = (await metrics.family('rpc_call_latency_seconds')) ?? '';
  const names = new Set([...text.matchAll(/operation_name="([^"]*)"/g)].map(([, name]) => name));
  t.ok(names.size <= 65, `${names.size} names`);
  t.ok(names.has('eth_call') && names.has('other'));
  t.match(
    await metrics.text(),
    'api_rpc_failures_total{endpoint="https://a.test",operation_name="eth_call",error_type="timeout"} 1',
  );
});

t.test('families can be listed and read one by one, and the process is among them', async (t) => {
  const metrics = createMetrics();
  t.ok(metrics.names().includes('requests_total'));
  t.ok(metrics.names().includes('nodejs_eventloop_lag_seconds'));
  t.ok(metrics.names().includes('process_resident_memory_bytes'));
  t.equal(await metrics.family('nothing'), undefined);
  t.equal(await metrics.family('__proto__'), undefined);
});
