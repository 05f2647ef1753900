import { Registry } from 'prom-client';
import t from 'tap';
import { Instruments } from '../../../../src/observability/instruments.ts';
import { METRICS } from '../../../../src/observability/metric-table.ts';
import { createMetrics } from '../../../../src/observability/metrics.ts';

t.test('an instrument has what the table says of it', async (t) => {
  const registry = new Registry();
  const instruments = new Instruments(registry);
  instruments.counter('lane_faults_total').inc({ network_type: 'evm' });
  instruments.gauge('plugin_processes').set(2);
  instruments.histogram('webhook_delivery_seconds').observe({ outcome: 'ok' }, 0.003);
  const text = await registry.metrics();
  t.match(text, `# HELP lane_faults_total ${METRICS.lane_faults_total.help}\n# TYPE lane_faults_total counter`);
  t.match(text, '# TYPE plugin_processes gauge\nplugin_processes 2');
  t.equal(text.match(/webhook_delivery_seconds_bucket/g)?.length, METRICS.webhook_delivery_seconds.buckets.length + 1);
});

t.test('every row of the table is made, each once', (t) => {
  const names = createMetrics().names();
  for (const name of Object.keys(METRICS)) t.equal(names.filter((one) => one === name).length, 1, name);
  const instruments = new Instruments(new Registry());
  instruments.gauge('plugin_processes');
  t.throws(() => instruments.gauge('plugin_processes'), /already been registered/);
  t.end();
});
