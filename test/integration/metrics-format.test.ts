/** The metrics parse as Prometheus text, and pass the rules of `promtool check metrics`. */
import t from 'tap';
import { EXPOSED_METRICS, type MetricLabels, type MetricName } from '../../src/observability/metric-table.ts';
import { createMetrics, type ServiceMetrics } from '../../src/observability/metrics.ts';
import { lint, parseExposition, textOf } from '../support/exposition.ts';

/** Gives every metric a value, with hard label values. */
function exercise(metrics: ServiceMetrics): void {
  for (const { name, kind, labels } of EXPOSED_METRICS.values()) {
    const values = Object.fromEntries(labels.map((label) => [label, 'r "1"\\\n'])) as MetricLabels<MetricName>;
    if (kind === 'histogram')
      for (const value of [0.2, 200]) metrics.observe(name as MetricName<'histogram'>, values, value);
    else if (kind === 'gauge') metrics.set(name as MetricName<'gauge'>, values, 1);
    else metrics.count(name as MetricName<'counter'>, values);
  }
}

/** Names that break the linter's rules, because the reference's dashboards use them. There are none yet. */
const KEPT_FOR_THE_REFERENCE: readonly string[] = [];

t.test('the metrics pass the linter, both empty and after every event', async (t) => {
  const metrics = createMetrics();
  t.strictSame(lint(parseExposition(await textOf(metrics))), [...KEPT_FOR_THE_REFERENCE]);
  exercise(metrics);
  const families = parseExposition(await textOf(metrics));
  t.strictSame(lint(families), [...KEPT_FOR_THE_REFERENCE]);
  for (const [name, { kind, labels }] of EXPOSED_METRICS) {
    const family = families.get(name);
    t.equal(family?.type, kind, name);
    t.ok((family?.samples.length ?? 0) > 0, `${name} is exercised here`);
    const seen = new Set(family?.samples.flatMap((sample) => Object.keys(sample.labels)));
    seen.delete('le');
    t.strictSame([...seen].toSorted(), [...labels].toSorted(), name);
  }
  t.equal(families.get('isolayer_transactions_created_total')?.samples[0]?.labels['relayer_id'], 'r \\"1\\"\\\\\\n');
});

t.test('the names say whose they are and in which unit, as the conventions ask', (t) => {
  for (const [name, { kind }] of EXPOSED_METRICS) {
    t.match(name, /^isolayer_[a-z]+(_[a-z]+)+$/, 'the application, then what is measured');
    t.equal(kind === 'counter', name.endsWith('_total'), `${name}: what is counted, and only that, is a total`);
    if (kind === 'histogram') t.match(name, /_seconds$/, 'a base unit');
  }
  t.end();
});

t.test('each family by itself is as clean', async (t) => {
  const metrics = createMetrics();
  exercise(metrics);
  for (const name of metrics.names()) {
    t.strictSame([...parseExposition(await textOf(metrics, name)).keys()], [name]);
  }
});

t.test('the reader refuses what is not the format, and the linter says what promtool says', (t) => {
  const head = '# HELP a_total A.\n# TYPE a_total counter\n';
  t.doesNotThrow(() => parseExposition(`${head}a_total{x="1"} 1\na_total{x="2"} 1\n`));
  for (const bad of [
    `${head}a_total 1`,
    `${head}b_total 1\n`,
    `${head}a_total{x="1"} 1\na_total{x="1"} 2\n`,
    `${head}a_total{x="1",x="2"} 1\n`,
    `${head}a_total{x="\n"} 1\n`,
    `${head}a_total{x='1'} 1\n`,
    `${head}a_total one\n`,
    `${head}a_total -1\n`,
    `${head}${head}`,
    `# TYPE a_total counter\na_total 1\n`,
    `# HELP h H.\n# TYPE h histogram\nh_bucket{le="1"} 2\nh_bucket{le="+Inf"} 1\nh_sum 1\nh_count 1\n`,
    `# HELP h H.\n# TYPE h histogram\nh_bucket{le="1"} 1\nh_sum 1\nh_count 1\n`,
  ]) {
    t.throws(() => parseExposition(bad), bad);
  }
  const linted = (name: string, type: string) => lint(parseExposition(`# HELP ${name} x\n# TYPE ${name} ${type}\n`));
  t.match(linted('calls', 'counter'), [/"_total"/]);
  t.match(linted('calls_total', 'gauge'), [/"_total"/]);
  t.match(linted('files_count', 'gauge'), [/suffix/]);
  t.match(linted('wait_ms', 'gauge'), [/abbreviated/]);
  t.match(linted('wait_milliseconds', 'gauge'), [/base unit "seconds"/]);
  t.match(linted('waitTime', 'gauge'), [/snake_case/]);
  t.match(linted('a_gauge', 'gauge'), [/type "gauge"/]);
  t.strictSame(linted('wait_seconds', 'gauge'), []);
  t.end();
});
