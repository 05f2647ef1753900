import t from 'tap';
import { createMetrics } from '../../../../src/observability/metrics.ts';

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
