import { Registry } from 'prom-client';
import t from 'tap';
import { Instruments } from '../../../../src/observability/instruments.ts';
import { METRICS } from '../../../../src/observability/metric-table.ts';
import { createMetrics } from '../../../../src/observability/metrics.ts';

t.test('an instrument has what the table says of it', async (t) => {
  const registry = new Registry();
  const instruments = new Instruments(registry);
  instruments.counter('isolayer_lane_faults_total').inc({ network_type: 'evm' });
  instruments.gauge('isolayer_plugin_processes').set(2);
  instruments.histogram('isolayer_webhook_delivery_duration_seconds').observe({ outcome: 'ok' }, 0.003);
  const text = await registry.metrics();
  t.match(
    text,
    `# HELP isolayer_lane_faults_total ${METRICS.isolayer_lane_faults_total.help}\n# TYPE isolayer_lane_faults_total counter`,
  );
  t.match(text, '# TYPE isolayer_plugin_processes gauge\nisolayer_plugin_processes 2');
  t.equal(
    text.match(/isolayer_webhook_delivery_duration_seconds_bucket/g)?.length,
    METRICS.isolayer_webhook_delivery_duration_seconds.buckets.length + 1,
  );
});

t.test('every row of the table is made, each once', (t) => {
  const names = createMetrics().names();
  for (const name of Object.keys(METRICS)) t.equal(names.filter((one) => one === name).length, 1, name);
  const instruments = new Instruments(new Registry());
  instruments.gauge('isolayer_plugin_processes');
  t.throws(() => instruments.gauge('isolayer_plugin_processes'), /already been registered/);
  t.end();
});
