import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import t from 'tap';
import { Instruments } from '../../../../src/observability/instruments.ts';
import { METRICS } from '../../../../src/observability/metric-table.ts';
import { createMetrics, readBuildInfo } from '../../../../src/observability/metrics.ts';

t.test('families can be listed and read one by one, and the process is among them', async (t) => {
  const metrics = createMetrics();
  t.ok(metrics.names().includes('isolayer_http_requests_total'));
  t.ok(metrics.names().includes('nodejs_eventloop_lag_seconds'));
  t.ok(metrics.names().includes('process_resident_memory_bytes'));
  t.equal(await metrics.family('nothing'), undefined);
  t.equal(await metrics.family('__proto__'), undefined);
});

t.test('what is looked at only at a scrape is looked at once for all who ask meanwhile', async (t) => {
  const metrics = createMetrics();
  let looks = 0;
  metrics.atScrape(async () => {
    looks += 1;
    metrics.webhooks.waiting(looks);
  });
  const [one, other] = await Promise.all([metrics.text(), metrics.family('isolayer_webhook_events_waiting')]);
  t.match(one, /^isolayer_webhook_events_waiting 1$/m);
  t.match(other, /^isolayer_webhook_events_waiting 1$/m);
  t.match(await metrics.text(), /^isolayer_webhook_events_waiting 2$/m);
});

t.test('a look that fails or hangs keeps nobody from the rest', async (t) => {
  const metrics = createMetrics();
  metrics.atScrape(() => {
    throw new Error('store away');
  });
  metrics.atScrape(() => new Promise(() => undefined));
  t.match(await metrics.text(), '# TYPE isolayer_http_requests_total counter');
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
  metrics.engine.decided({ relayerId: 'r1', networkType: 'evm', kind: 'gap-filled' });
  metrics.engine.relayerChecked('r1', true);
  metrics.engine.relayerChecked('r2', false);
  const text = await metrics.text();
  const labels = 'relayer_id="r1",network_type="evm"';
  t.match(text, `isolayer_transactions_submitted_total{${labels}} 1`);
  t.match(text, `isolayer_transactions_confirmed_total{${labels}} 1`);
  t.match(text, `isolayer_transactions_failed_total{${labels},failure_reason="expired",previous_status="pending"} 1`);
  t.match(text, `isolayer_transaction_transitions_total{${labels},from="mined",to="submitted"} 1`);
  t.match(text, `isolayer_transaction_decisions_total{${labels},kind="gap-filled"} 1`);
  t.match(text, 'isolayer_lane_faults_total{network_type="evm"} 1');
  t.match(text, 'isolayer_relayer_checks_total{relayer_id="r1",result="passed"} 1');
  t.match(text, 'isolayer_relayer_checks_total{relayer_id="r2",result="failed"} 1');
  t.notMatch(text, 'isolayer_relayer_healthy{', 'which are well the store knows');
});

t.test('accepted ones are counted, open ones are what the store says now', async (t) => {
  const metrics = createMetrics();
  const relayer = { relayerId: 'r1', networkType: 'evm' };
  metrics.engine.accepted(relayer);
  metrics.engine.open(
    [
      { ...relayer, status: 'pending', count: 4, oldestAt: 7_000 },
      { ...relayer, status: 'sent', count: 1, oldestAt: 2_000 },
    ],
    62_000,
  );
  t.match(await metrics.text(), 'isolayer_transactions_oldest_open_age_seconds{relayer_id="r1",network_type="evm"} 60');
  t.match(await metrics.text(), 'isolayer_transactions_created_total{relayer_id="r1",network_type="evm"} 1');
  t.match(await metrics.text(), 'isolayer_transactions_open{relayer_id="r1",network_type="evm",status="pending"} 4');
  metrics.engine.open([{ ...relayer, status: 'mined', count: 1, oldestAt: 9_000 }], 8_000);
  const text = await metrics.text();
  t.match(text, 'isolayer_transactions_open{relayer_id="r1",network_type="evm",status="mined"} 1');
  t.notMatch(text, 'status="pending"');
  t.match(
    text,
    'isolayer_transactions_oldest_open_age_seconds{relayer_id="r1",network_type="evm"} 0',
    'clocks may differ',
  );
});

t.test('versions, offers, intents, and what waits for another moment', async (t) => {
  const metrics = createMetrics();
  const relayer = { relayerId: 'r1', networkType: 'evm' };
  metrics.engine.signed({ ...relayer, purpose: 'bump' });
  metrics.engine.offered({ ...relayer, outcome: 'fee-too-low' });
  metrics.engine.intentsWaiting(3);
  metrics.engine.parked([
    { ...relayer, cause: 'price' },
    { ...relayer, cause: 'price' },
    { ...relayer, cause: 'balance' },
  ]);
  const text = await metrics.text();
  const labels = 'relayer_id="r1",network_type="evm"';
  t.match(text, `isolayer_transaction_versions_total{${labels},purpose="bump"} 1`);
  t.match(text, `isolayer_transaction_broadcasts_total{${labels},outcome="fee-too-low"} 1`);
  t.match(text, '\nisolayer_intents_waiting 3\n');
  t.match(text, `isolayer_transactions_parked{${labels},reason="price"} 2`);
  t.match(text, `isolayer_transactions_parked{${labels},reason="balance"} 1`);
  metrics.engine.parked([]);
  t.notMatch(await metrics.text(), 'isolayer_transactions_parked{');
});

t.test('relayers are told of as they are now, and no more once they are gone', async (t) => {
  const metrics = createMetrics();
  metrics.engine.relayers([
    { id: 'r1', networkType: 'evm', disabledReason: null },
    { id: 'r2', networkType: 'evm', disabledReason: { type: 'BalanceCheckFailed' } },
  ]);
  const text = await metrics.text();
  t.match(text, 'isolayer_relayer_healthy{relayer_id="r1"} 1');
  t.match(text, 'isolayer_relayer_healthy{relayer_id="r2"} 0');
  metrics.engine.relayers([{ id: 'r1', networkType: 'evm', disabledReason: null }]);
  t.notMatch(await metrics.text(), 'isolayer_relayer_healthy{relayer_id="r2"}');
});

t.test('what the alerts look for an increase of is there before it first happens', async (t) => {
  const metrics = createMetrics();
  metrics.engine.relayers([{ id: 'r1', networkType: 'evm', disabledReason: null }]);
  const labels = 'relayer_id="r1",network_type="evm"';
  const text = await metrics.text();
  t.match(text, 'isolayer_lane_faults_total{network_type="evm"} 0');
  t.match(text, `isolayer_transaction_decisions_total{${labels},kind="gap-filled"} 0`);
  t.match(text, `isolayer_transaction_transitions_total{${labels},from="sent",to="submitted"} 0`);
  t.match(text, `isolayer_transactions_failed_total{${labels},failure_reason="expired",previous_status="submitted"} 0`);
  t.match(text, 'isolayer_webhook_events_ended_total{end="dead"} 0');
  t.match(text, 'isolayer_plugin_process_ends_total{plugin_id="",cause="start"} 0');
  metrics.engine.stepFailed('evm');
  metrics.engine.relayers([{ id: 'r1', networkType: 'evm', disabledReason: null }]);
  t.match(await metrics.text(), 'isolayer_lane_faults_total{network_type="evm"} 1', 'and is not begun anew');
  metrics.plugins.standings([{ id: 'p', refused: false }]);
  const begun = await metrics.text();
  t.match(begun, 'isolayer_plugin_process_ends_total{plugin_id="p",cause="memory"} 0');
  t.match(begun, 'isolayer_plugin_call_outcomes_total{plugin_id="p",outcome="SANDBOX_LOST"} 0');
});

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

t.test('every row of the table is made, each once', (t) => {
  const names = createMetrics().names();
  for (const name of Object.keys(METRICS)) t.equal(names.filter((one) => one === name).length, 1, name);
  const instruments = new Instruments(new Registry());
  instruments.gauge('isolayer_plugin_processes');
  t.throws(() => instruments.gauge('isolayer_plugin_processes'), /already been registered/);
  t.end();
});

t.test('plugins: ends, capabilities, processes', async (t) => {
  const metrics = createMetrics();
  metrics.plugins.callEnded('echo', 'CPU_LIMIT', 0.5);
  metrics.plugins.capabilityCalled('echo', 'kv.get', 'refused');
  metrics.plugins.processKilled('echo', 'overdue');
  metrics.plugins.load({ processes: 3, running: 2, queued: 1 });
  const text = await metrics.text();
  t.match(text, 'isolayer_plugin_call_outcomes_total{plugin_id="echo",outcome="CPU_LIMIT"} 1');
  t.match(text, 'isolayer_plugin_call_duration_seconds_sum{plugin_id="echo"} 0.5');
  t.match(text, 'isolayer_plugin_capability_calls_total{plugin_id="echo",method="kv.get",answer="refused"} 1');
  t.match(text, 'isolayer_plugin_process_ends_total{plugin_id="echo",cause="overdue"} 1');
  t.match(text, /^isolayer_plugin_processes 3$/m);
  t.match(text, /^isolayer_plugin_calls_running 2$/m);
  t.match(text, /^isolayer_plugin_calls_queued 1$/m);
});

t.test('what processes hold is added up by plugin, and forgotten with them', async (t) => {
  const metrics = createMetrics();
  metrics.plugins.uses([
    { pluginId: 'a', isolates: 2, residentBytes: 100 },
    { pluginId: 'a', isolates: 1, residentBytes: 50 },
    { pluginId: '', isolates: 0, residentBytes: 30 },
  ]);
  const text = await metrics.text();
  t.match(text, 'isolayer_plugin_isolates{plugin_id="a"} 3');
  t.match(text, 'isolayer_plugin_resident_memory_bytes{plugin_id="a"} 150');
  t.match(text, 'isolayer_plugin_resident_memory_bytes{plugin_id=""} 30');
  metrics.plugins.uses([]);
  t.notMatch(await metrics.text(), 'isolayer_plugin_isolates{');
});

t.test('usage is taken over as it stands: sums since the start, and the latest peaks', async (t) => {
  const metrics = createMetrics();
  const { plugins } = metrics;
  const total = { pluginId: 'a', outcome: 'threw', cpuMs: 1500, bytesIn: 20, bytesOut: 3 };
  plugins.usage({ totals: [total], heapPeaks: new Map([['a', 100]]) });
  plugins.usage({ totals: [{ ...total, cpuMs: 2500 }], heapPeaks: new Map([['b', 7]]) });
  const shown = await metrics.text();
  t.match(shown, 'isolayer_plugin_cpu_seconds_total{plugin_id="a",outcome="threw"} 2.5');
  t.match(shown, 'isolayer_plugin_received_bytes_total{plugin_id="a",outcome="threw"} 20');
  t.match(shown, 'isolayer_plugin_sent_bytes_total{plugin_id="a",outcome="threw"} 3');
  t.match(shown, 'isolayer_plugin_heap_peak_bytes{plugin_id="b"} 7');
  t.notMatch(shown, 'isolayer_plugin_heap_peak_bytes{plugin_id="a"}');
});

t.test('a plugin is 1 while it is refused, else 0, and no label once it is gone', async (t) => {
  const metrics = createMetrics();
  const bad = { id: 'bad', refused: true };
  metrics.plugins.standings([bad, { id: 'good', refused: false }]);
  t.match(await metrics.text(), 'isolayer_plugin_refused{plugin_id="bad"} 1');
  t.match(await metrics.text(), 'isolayer_plugin_refused{plugin_id="good"} 0');
  metrics.plugins.standings([{ ...bad, refused: false }]);
  t.match(await metrics.text(), 'isolayer_plugin_refused{plugin_id="bad"} 0');
  t.notMatch(await metrics.text(), 'isolayer_plugin_refused{plugin_id="good"}');
});

t.test('callers of the pass-through cannot make up labels without end', async (t) => {
  const metrics = createMetrics();
  const call = { endpoint: 'https://a.test', outcome: 'ok', ms: 20 };
  metrics.rpc.called({ ...call, method: 'eth_call', outcome: 'transport' });
  for (let n = 0; n < 200; n += 1) metrics.rpc.called({ ...call, method: `made_up_${n}` });
  metrics.rpc.called({ ...call, method: 'a"b\n' });
  const text = (await metrics.family('isolayer_rpc_call_duration_seconds')) ?? '';
  const names = new Set([...text.matchAll(/operation_name="([^"]*)"/g)].map(([, name]) => name));
  t.ok(names.size <= 65, `${names.size} names`);
  t.ok(names.has('eth_call') && names.has('other'));
  t.match(
    await metrics.text(),
    'isolayer_rpc_call_failures_total{endpoint="https://a.test",operation_name="eth_call",error_type="transport"} 1',
  );
});

t.test('endpoints of one name are added up, and each of their states has a figure', async (t) => {
  const metrics = createMetrics();
  const one = { network: 'sepolia', endpoint: 'https://a.test', unanswered: [] };
  metrics.rpc.endpoints([
    { ...one, state: 'ready' },
    { ...one, state: 'paused' },
  ]);
  metrics.rpc.endpointChanged('sepolia', { kind: 'paused', endpoint: 'https://a.test' });
  metrics.rpc.endpointChanged('sepolia', { kind: 'back', endpoint: 'https://a.test' });
  const labels = 'network="sepolia",endpoint="https://a.test"';
  const text = await metrics.text();
  for (const [state, count] of Object.entries({ ready: 1, paused: 1, limited: 0, unfit: 0 })) {
    t.match(text, `isolayer_rpc_endpoints{${labels},state="${state}"} ${count}`);
  }
  t.match(text, `isolayer_rpc_endpoint_pauses_total{${labels},reason="paused"} 1`);
  t.notMatch(text, 'reason="back"');
  metrics.rpc.endpoints([]);
  t.notMatch(await metrics.text(), 'isolayer_rpc_endpoints{');
});

t.test('questions to signers, by what came of them', async (t) => {
  const metrics = createMetrics();
  metrics.signers.asked({ signer: 'treasury', type: 'local', outcome: 'ok', seconds: 0.002 });
  metrics.signers.asked({ signer: 'treasury', type: 'local', outcome: 'failed', seconds: 3 });
  const text = await metrics.text();
  t.match(text, 'isolayer_signer_request_duration_seconds_count{signer="treasury",type="local",outcome="ok"} 1');
  t.match(text, 'isolayer_signer_request_duration_seconds_sum{signer="treasury",type="local",outcome="failed"} 3');
});

t.test('how the store is, and what becomes of writes', async (t) => {
  const metrics = createMetrics();
  t.match(
    await metrics.text(),
    'isolayer_store_write_duration_seconds_count{outcome="failed"} 0',
    'there before the first failure, which were no increase otherwise',
  );
  metrics.store.stands(true);
  metrics.store.wrote('kept', 0.004);
  t.equal(metrics.store.writeFailure, undefined);
  metrics.store.wrote('failed', 6, 'the disk is full');
  metrics.store.wrote('undone', 0);
  t.equal(metrics.store.writeFailure, 'the disk is full', 'until one was written');
  metrics.store.wrote('kept', 0);
  t.equal(metrics.store.writeFailure, undefined);
  const text = await metrics.text();
  t.match(text, /^isolayer_store_healthy 1$/m);
  t.match(text, 'isolayer_store_write_duration_seconds_bucket{le="0.0025",outcome="kept"} 1');
  t.match(text, 'isolayer_store_write_duration_seconds_bucket{le="0.005",outcome="kept"} 2');
  t.match(text, 'isolayer_store_write_duration_seconds_sum{outcome="failed"} 6');
  t.match(text, 'isolayer_store_write_duration_seconds_count{outcome="failed"} 1');
  metrics.store.stands(false);
  t.match(await metrics.text(), /^isolayer_store_healthy 0$/m);
});

t.test('deliveries, their ends and what waits', async (t) => {
  const metrics = createMetrics();
  metrics.webhooks.tried({ outcome: 'status', seconds: 0.02 });
  metrics.webhooks.ended('delivered');
  metrics.webhooks.waiting(3);
  const text = await metrics.text();
  t.match(text, 'isolayer_webhook_delivery_duration_seconds_bucket{le="0.025",outcome="status"} 1');
  t.match(text, 'isolayer_webhook_events_ended_total{end="delivered"} 1');
  t.match(text, /^isolayer_webhook_events_waiting 3$/m);
});

t.test('the version is that of the package, and Node says its own', (t) => {
  const file = join(import.meta.dirname, '..', '..', '..', '..', 'package.json');
  const { version } = JSON.parse(readFileSync(file, 'utf8'));
  t.strictSame(readBuildInfo(), { version, node: process.versions.node });
  t.match(version, /^\d+\.\d+\.\d+/);
  t.end();
});
