import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { EXPOSED_METRICS } from '../../../../src/observability/metric-table.ts';
import { createMetrics, readBuildInfo } from '../../../../src/observability/metrics.ts';
import { textOf } from '../../../support/exposition.ts';

t.test('families can be listed and read one by one, and the process is among them', async (t) => {
  const metrics = createMetrics();
  t.ok(metrics.names().includes('isolayer_http_requests_total'));
  t.ok(metrics.names().includes('nodejs_eventloop_lag_seconds'));
  t.ok(metrics.names().includes('process_resident_memory_bytes'));
  t.equal(await textOf(metrics, 'nothing'), '');
  t.equal(await textOf(metrics, '__proto__'), '');
});

t.test('what is looked at only at a scrape is looked at once for all who ask meanwhile', async (t) => {
  const metrics = createMetrics();
  let looks = 0;
  metrics.atScrape(async () => {
    looks += 1;
    metrics.set('webhook_events_waiting', {}, looks);
  });
  const [one, other] = await Promise.all([textOf(metrics), textOf(metrics, 'isolayer_webhook_events_waiting')]);
  t.match(one, /^isolayer_webhook_events_waiting 1$/m);
  t.match(other, /^isolayer_webhook_events_waiting 1$/m);
  t.match(await textOf(metrics), /^isolayer_webhook_events_waiting 2$/m);
});

t.test('a look that fails or hangs keeps nobody from the rest', async (t) => {
  const metrics = createMetrics();
  metrics.atScrape(() => {
    throw new Error('store away');
  });
  metrics.atScrape(() => new Promise(() => undefined));
  t.match(await textOf(metrics), '# TYPE isolayer_http_requests_total counter');
});

t.test('counts are added up by labels, whatever else the object has, and shown at the next look', async (t) => {
  const metrics = createMetrics();
  const labels = { endpoint: '/api/v1/relayers/:id', method: 'GET', status: 404 };
  metrics.count('http_requests', labels);
  metrics.count('http_requests', { ...labels, status: 200 }, 3);
  metrics.count('http_requests_in_flight', labels);
  metrics.count('http_requests_in_flight', labels);
  metrics.count('http_requests_in_flight', labels, -1);
  metrics.observe('http_request_duration', labels, 0.003);
  metrics.count('intents_waiting', {}, 2);
  const text = await textOf(metrics);
  const shown = 'endpoint="/api/v1/relayers/:id",method="GET"';
  t.match(text, `isolayer_http_requests_total{${shown},status="404"} 1\n`);
  t.match(text, `isolayer_http_requests_total{${shown},status="200"} 3\n`);
  t.match(text, 'isolayer_http_requests_in_flight{endpoint="/api/v1/relayers/:id"} 1\n');
  t.match(text, '\nisolayer_intents_waiting 2\n');
  t.match(text, `isolayer_http_request_duration_seconds_bucket{le="0.005",${shown},status="404"} 1\n`);
  metrics.count('http_requests', labels);
  t.match(await textOf(metrics, 'isolayer_http_requests_total'), `{${shown},status="404"} 2\n`);
  t.match(await textOf(metrics), `isolayer_http_requests_total{${shown},status="200"} 3\n`);
});

t.test('a count of nothing starts a series, and changes none', async (t) => {
  const metrics = createMetrics();
  for (const expected of [0, 1]) {
    metrics.count('lane_faults', { network_type: 'evm' }, 0);
    t.match(await textOf(metrics), `isolayer_lane_faults_total{network_type="evm"} ${expected}\n`);
    metrics.count('lane_faults', { network_type: 'evm' });
  }
});

t.test('a metric that is replaced has the given series only, added up by labels', async (t) => {
  const metrics = createMetrics();
  metrics.replace('plugin_isolates', [
    [{ plugin_id: 'a' }, 2],
    [{ plugin_id: 'a' }, 1],
    [{ plugin_id: 'b' }, 5],
  ]);
  t.match(await textOf(metrics), 'isolayer_plugin_isolates{plugin_id="a"} 3\n');
  metrics.replace('plugin_isolates', [[{ plugin_id: 'b' }, 4]]);
  const text = await textOf(metrics);
  t.match(text, 'isolayer_plugin_isolates{plugin_id="b"} 4\n');
  t.notMatch(text, 'isolayer_plugin_isolates{plugin_id="a"}');
});

t.test('a long text comes in pieces, between which others have their turn, and may change meanwhile', async (t) => {
  const metrics = createMetrics();
  const isolates = (count: number, value: number) =>
    metrics.replace(
      'plugin_isolates',
      Array.from({ length: count }, (_, index) => [{ plugin_id: `plugin-${index}` }, value] as const),
    );
  isolates(10_000, 1);
  let turns = 0;
  const count = () => {
    turns += 1;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  const seen = new Set<number>();
  const pieces: string[] = [];
  for await (const piece of metrics.pieces('isolayer_plugin_isolates')) {
    if (pieces.push(piece) === 2) isolates(5, 2);
    seen.add(turns);
  }
  clearImmediate(next);
  t.ok(pieces.length > 2 && pieces.every((piece) => piece.length < 70_000));
  t.equal(seen.size, pieces.length, 'each in a turn of its own');
  t.equal((await textOf(metrics, 'isolayer_plugin_isolates')).split('\n').length, 2 + 5 + 1);
});

t.test('every row of the table is made, each once', (t) => {
  const names = createMetrics().names();
  for (const name of EXPOSED_METRICS.keys()) t.equal(names.filter((one) => one === name).length, 1, name);
  t.end();
});

t.test('what the alerts look for an increase of is there before it first happens', async (t) => {
  const text = await textOf(createMetrics());
  t.match(text, 'isolayer_webhook_events_ended_total{end="dead"} 0\n');
  t.match(text, 'isolayer_plugin_process_ends_total{plugin_id="",cause="start"} 0\n');
  t.match(text, 'isolayer_store_write_duration_seconds_count{outcome="failed"} 0\n');
});

t.test('the version is that of the package, and Node says its own', (t) => {
  const file = join(import.meta.dirname, '..', '..', '..', '..', 'package.json');
  const { version } = JSON.parse(readFileSync(file, 'utf8'));
  t.strictSame(readBuildInfo(), { version, node: process.versions.node });
  t.match(version, /^\d+\.\d+\.\d+/);
  t.end();
});
