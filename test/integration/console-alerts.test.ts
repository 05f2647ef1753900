/** The console's alerts are the same as those of the Prometheus rules. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { ALERT_RULES, alertsOf } from '../../console/alerts.ts';
import { parseFigures, quantile } from '../../console/figures.ts';
import { EXPOSED_METRICS } from '../../src/observability/metric-table.ts';

interface Rule {
  alert: string;
  expr: string;
  for: string;
  labels: { severity: string };
}

const file = join(import.meta.dirname, '..', '..', 'deploy', 'prometheus', 'alerts.yml');
const { groups } = parse(readFileSync(file, 'utf8')) as { groups: { rules: Rule[] }[] };
const rules = new Map(groups.flatMap((group) => group.rules).map((rule) => [rule.alert, rule]));

t.test('each has the metric, the severity, the limit and the times of its rule', (t) => {
  for (const { alert, metric, severity, lasting, limit, within, where = {}, by } of ALERT_RULES) {
    const rule = rules.get(alert);
    if (rule === undefined) {
      t.fail(`there is no rule ${alert}`);
      continue;
    }
    t.match(rule.expr, metric, alert);
    t.ok(EXPOSED_METRICS.has(metric), metric);
    t.strictSame([rule.labels.severity, rule.for], [severity, `${lasting}m`], alert);
    const [, comparison, bound] = /(>|<|==) ([\d.]+)$/.exec(rule.expr) ?? [];
    t.equal(comparison === '==' ? 1 : Number(bound), limit, `${alert}: ${rule.expr}`);
    if (within !== undefined) t.match(rule.expr, `[${within === 60 ? '1h' : `${within}m`}]`, alert);
    if (by !== undefined) t.match(rule.expr, by, alert);
    if (alert === 'IsolayerSandboxDeaths') continue;
    for (const [label, values] of Object.entries(where)) {
      for (const value of values) t.match(rule.expr, new RegExp(`${label}=~?"[^"]*${value}`), alert);
    }
  }
  t.end();
});

const MINUTE = 60_000;
const at = (minutes: number, ...lines: string[]) => ({
  at: minutes * MINUTE,
  figures: parseFigures(lines.join('\n')),
});

t.test('values and rises are told in words, the critical first', (t) => {
  const dead = 'isolayer_webhook_events_ended_total{end="dead"}';
  const healthy = 'isolayer_relayer_healthy{relayer_id="shop \\"one\\""}';
  t.strictSame(alertsOf([]), []);
  t.strictSame(alertsOf([at(0, `${dead} 7`, `${healthy} 1`)]), [], 'what was counted before counts for nothing');
  const alerts = alertsOf([at(0, `${dead} 7`), at(5, `${dead} 9`, `${healthy} 0`)]);
  t.strictSame(
    alerts.map(({ severity, text, who }) => [severity, text, who]),
    [
      ['critical', 'Relayer shop "one" takes no transactions.', 'shop "one"'],
      ['warning', '2 webhook events were given up.', ''],
    ],
  );
  t.strictSame(alertsOf([at(0, `${dead} 7`), at(30, `${dead} 9`), at(91, `${dead} 9`)]), [], 'it is long ago');
  t.match(alertsOf([at(0, `${dead} 7`), at(5, `${dead} 1`)]), [], 'it began anew');
  t.end();
});

t.test('quantiles come from the buckets of all series together', (t) => {
  const { figures } = at(
    0,
    ...['d_bucket{le="1",x="a"} 1', 'd_bucket{le="2",x="a"} 2', 'd_bucket{le="+Inf",x="a"} 2'],
    ...['d_bucket{le="1",x="b"} 1', 'd_bucket{le="2",x="b"} 2', 'd_bucket{le="+Inf",x="b"} 2'],
  );
  t.equal(quantile(figures.get('d_bucket') ?? [], 0.5), 1);
  t.equal(quantile(figures.get('d_bucket') ?? [], 0.75), 1.5);
  t.equal(quantile([], 0.5), undefined);
  t.end();
});
