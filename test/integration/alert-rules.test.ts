/** The alerts use existing metrics, labels and label values, and each alert has a section in the guide. */

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { type ChildDeath, END_CODES } from '../../sandbox/contract.ts';
import type { StoreWriteOutcome } from '../../src/app/metrics.ts';
import { ENDPOINT_STATES } from '../../src/domain/endpoint-news.ts';
import type { RpcVerdict } from '../../src/egress/rpc/rpc-verdict.ts';
import type { ParkCause } from '../../src/engine/lane/broadcast-history.ts';
import { DEAD_EVENTS_KEEP_MS } from '../../src/engine/retention.ts';
import { defaultWebhookTiming } from '../../src/engine/webhooks/webhook-delivery.ts';
import { decisionKindSchema } from '../../src/features/transactions/records/timeline-decision.ts';
import { FINAL_STATUSES, transactionStatusSchema } from '../../src/features/transactions/records/transaction-state.ts';
import { PAUSED_BY } from '../../src/features/triggers/records/trigger-state.ts';
import type { WebhookEnd } from '../../src/features/webhooks/records/webhook-event.ts';
import { EXPOSED_METRICS } from '../../src/observability/metric-table.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import { rules } from '../support/alerts.ts';
import { parseExposition, textOf } from '../support/exposition.ts';
import { startHttp } from '../support/http-server.ts';
import { groupedBy, parsePromQl, selectorsOf } from '../support/promql.ts';

const root = join(import.meta.dirname, '..', '..');
const guide = readFileSync(join(root, 'docs', 'alerts.md'), 'utf8');

/** Labels that Prometheus adds. */
const OF_PROMETHEUS = ['job', 'instance'];

/** The possible values of the labels that the rules match. */
const VALUES: Record<string, readonly string[]> = {
  'isolayer_transactions_open status': transactionStatusSchema.options,
  'isolayer_transactions_failed_total failure_reason': FINAL_STATUSES,
  'isolayer_transactions_parked reason': ['price', 'balance', 'budget', 'sequence'] satisfies ParkCause[],
  'isolayer_transaction_decisions_total kind': decisionKindSchema.options,
  'isolayer_rpc_endpoints state': ENDPOINT_STATES,
  'isolayer_rpc_call_failures_total error_type': ['endpoint', 'transport'] satisfies RpcVerdict['meaning'][],
  'isolayer_store_write_duration_seconds_count outcome': ['failed'] satisfies StoreWriteOutcome[],
  'isolayer_signer_request_duration_seconds_count outcome': ['failed'],
  'isolayer_webhook_events_ended_total end': ['dead'] satisfies WebhookEnd[],
  'isolayer_plugin_process_ends_total cause': ['start'] satisfies ChildDeath['cause'][],
  'isolayer_plugin_process_ends_total plugin_id': [''],
  'isolayer_trigger_paused by': PAUSED_BY,
  'isolayer_plugin_call_outcomes_total outcome': Object.keys(END_CODES),
};

const labelsOf = new Map<string, readonly string[]>([...EXPOSED_METRICS].map(([name, { labels }]) => [name, labels]));
const byText = (a: string, b: string) => (a < b ? -1 : 1);
const baseOf = (metric: string) => (labelsOf.has(metric) ? metric : metric.replace(/_(bucket|sum|count)$/, ''));
const known = (metric: string) => [...(labelsOf.get(baseOf(metric)) ?? []), ...OF_PROMETHEUS];

t.test('every metric that they ask for exists, and so do the labels', async (t) => {
  const families = parseExposition(await textOf(createMetrics()));
  for (const { alert, query } of rules) {
    t.ok(selectorsOf(query).length > 0, alert);
    for (const { metric, matchers } of selectorsOf(query)) {
      t.ok(metric === 'up' || families.has(baseOf(metric)), `${alert}: ${metric}`);
      for (const { label } of matchers) t.ok(known(metric).includes(label), `${alert}: ${metric} by ${label}`);
    }
    const all = selectorsOf(query).flatMap(({ metric }) => known(metric));
    for (const label of groupedBy(query)) t.ok(all.includes(label), `${alert}: grouped by ${label}`);
  }
});

t.test('they look at our job alone: the names of the metrics are those of others too', (t) => {
  for (const { alert, query } of rules) {
    for (const { metric, matchers } of selectorsOf(query)) {
      t.match(matchers[0], { label: 'job', operator: '=', value: 'isolayer' }, `${alert}: ${metric}`);
    }
  }
  t.match(readFileSync(join(root, 'docs', 'operations.md'), 'utf8'), '- job_name: isolayer\n');
  t.end();
});

t.test('the values that they ask for are ones that the labels can have', async (t) => {
  const { call, post, metrics } = await startHttp(t);
  await call('/api/v1/ready');
  await post('/api/v1/plugins/echo/call', '{}');
  for (const { alert, query } of rules) {
    for (const { metric, matchers } of selectorsOf(query)) {
      for (const { label, operator, value } of matchers.slice(1)) {
        const about = `${alert}: ${metric}{${label}${operator}"${value}"}`;
        for (const one of operator.includes('~') ? value.split('|') : [value]) {
          if (label === 'endpoint')
            t.ok(
              metrics.of('http_requests_in_flight').some((endpoint) => new RegExp(`^${one}$`).test(endpoint)),
              about,
            );
          else if (metric === 'isolayer_http_requests_total') t.match(one, /^[1-5]\d\d$/, about);
          else t.ok(VALUES[`${metric} ${label}`]?.includes(one), about);
        }
      }
    }
  }
});

t.test('what they say names only labels that the alert has', (t) => {
  for (const { alert, query, annotations } of rules) {
    const said = `${annotations.summary} ${annotations.description}`;
    const all = selectorsOf(query).flatMap(({ metric }) => known(metric));
    const has = groupedBy(query).length > 0 ? groupedBy(query) : all;
    for (const [, label = ''] of said.matchAll(/\$labels\.(\w+)/g)) t.ok(has.includes(label), `${alert}: ${label}`);
    t.notMatch(said.replaceAll(/\{\{ \$(labels\.\w+|value)( \| humanize\w*)? \}\}/g, ''), /[{}$]/, alert);
  }
  t.end();
});

t.test('each has its section in the guide, which tells its severity, and no section is without its alert', (t) => {
  const names = rules.map(({ alert }) => alert);
  t.equal(new Set(names).size, names.length, 'no two have the same name');
  const sections = [...guide.matchAll(/^### (\w+)\n\n(critical|warning)\. ([^]*?)(?=\n##|$(?![^]))/gm)];
  t.strictSame(
    sections.map(([, name]) => name),
    names,
    'in the same order',
  );
  for (const [index, { alert, labels, annotations }] of rules.entries()) {
    t.equal(sections[index]?.[2], labels.severity, alert);
    t.ok((sections[index]?.[3] ?? '').length > 80, `${alert}: says what to do`);
    t.equal(annotations.runbook, `docs/alerts.md#${alert.toLowerCase()}`);
  }
  t.end();
});

t.test('each is shown to fire by a real server under its fault, after none did', (t) => {
  const files = globSync('test/{integration,slow}/alerts-*.test.ts', { cwd: root });
  const scenes = files.map((file) => readFileSync(join(root, file), 'utf8'));
  const lists = scenes.flatMap((text) => [...text.matchAll(/firedAll\(t, scene, \[([^\]]*)\]/g)]);
  const shown = lists.flatMap(([, list = '']) => [...list.matchAll(/'(\w+)'/g)].map(([, alert = '']) => alert));
  const all = rules.map(({ alert }) => alert);
  t.strictSame([...shown].sort(byText), [...all].sort(byText));
  t.end();
});

t.test('the guide names metrics that there are', (t) => {
  const names = new Set(createMetrics().names());
  const named = [...guide.matchAll(/`([a-z]+(?:_[a-z0-9]+)+)(?:\{[^`]*\})?`/g)].map(([, name = '']) => name);
  t.ok(named.length > 10);
  const others = ['min_balance', 'status_reason', 'gas_price_cap', 'disabled_reason', 'process_mb', 'back_off'];
  for (const name of named) t.ok(names.has(name) || others.includes(name), name);
  t.end();
});

t.test('the guide quotes texts of the log that there are, and the webhooks’ patience', (t) => {
  const sources = globSync('src/**/*.ts', { cwd: root }).map((source) => readFileSync(join(root, source), 'utf8'));
  const quoted = [...guide.matchAll(/log[^.]*?`([a-z]+(?:\s[a-z]+)+)`/g)].map(([, text = '']) =>
    text.replaceAll(/\s/g, ' '),
  );
  t.ok(quoted.length > 4);
  for (const text of quoted)
    t.ok(
      sources.some((source) => source.includes(`'${text}'`)),
      text,
    );
  t.equal(defaultWebhookTiming.giveUpMs, 86_400_000);
  t.match(guide, 'given up after a day of tries');
  t.equal(DEAD_EVENTS_KEEP_MS, 30 * 86_400_000);
  t.match(guide, 'lists them for 30 days');
  t.end();
});

t.test('the reader refuses what is no query, and what it would not evaluate as Prometheus does', (t) => {
  for (const bad of ['a{', 'sum by (x a)', 'rate(a[5m)', 'a{b=~c}', 'a >', '']) t.throws(() => parsePromQl(bad), bad);
  const refused = [
    'a unless a offset 1h',
    'sum(a)',
    'sum without (b) (a)',
    'histogram_quantile(0.9, a)',
    'a + 1',
    'a > bool 1',
  ];
  const more = [
    'a / ignoring (b) c',
    'rate(a)',
    'absent(a[5m])',
    'a[5m:1m]',
    'a @ end()',
    '{__name__="a"}',
    'topk by (a) (1, b)',
  ];
  for (const one of [...refused, ...more]) t.throws(() => parsePromQl(one), /not evaluated here|not one part/, one);
  const query = parsePromQl('sum by (x) (rate(a_total{b=~"c|d",e!=""}[5m] offset 1h)) > 0 unless on (y) up');
  t.match(selectorsOf(query), [
    {
      metric: 'a_total',
      matchers: [
        { label: 'b', operator: '=~', value: 'c|d' },
        { label: 'e', operator: '!=', value: '' },
      ],
      rangeMs: 300_000,
      offsetMs: 3_600_000,
    },
    { metric: 'up', matchers: [], rangeMs: null },
  ]);
  t.strictSame(groupedBy(query), ['x']);
  t.end();
});
