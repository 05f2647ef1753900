/** The metrics parse as Prometheus text, and pass the rules of `promtool check metrics`. */
import t from 'tap';
import { METRICS } from '../../src/observability/metric-table.ts';
import { createMetrics, type Metrics } from '../../src/observability/metrics.ts';
import { lint, parseExposition } from '../support/exposition.ts';

/** Uses every counter, with hard label values. */
function exercise(metrics: Metrics): void {
  const relayer = { relayerId: 'r "1"\\\n', networkType: 'evm' };
  metrics.http.began('/a');
  metrics.http.ended({ endpoint: '/a', method: 'GET', status: 404, seconds: 0.2 });
  metrics.http.ended({ endpoint: '/a', method: 'GET', status: 200, seconds: 200 });
  metrics.http.timedOut('/a', 'GET');
  metrics.http.pluginCalled('p', 'POST', 200);
  metrics.plugins.callEnded('p', 'returned', 0.1);
  metrics.plugins.capabilityCalled('p', 'kv.get', 'ok');
  metrics.plugins.processKilled('', 'overdue');
  metrics.plugins.load({ processes: 1, running: 0, queued: 0 });
  const totals = [{ pluginId: 'p', outcome: 'returned', cpuMs: 5, bytesIn: 2, bytesOut: 1 }];
  metrics.plugins.usage({ totals, heapPeaks: new Map([['p', 1000]]) });
  metrics.plugins.standings([{ id: 'p', refused: true }]);
  metrics.plugins.uses([{ pluginId: 'p', isolates: 1, residentBytes: 5 }]);
  metrics.engine.accepted(relayer);
  metrics.engine.moved({ ...relayer, from: 'sent', to: 'submitted' });
  metrics.engine.moved({ ...relayer, from: 'mined', to: 'confirmed' });
  metrics.engine.moved({ ...relayer, from: 'pending', to: 'expired' });
  metrics.engine.open([{ ...relayer, status: 'pending', count: 3, oldestAt: 1 }], 5);
  metrics.engine.parked([{ ...relayer, cause: 'price' }]);
  metrics.engine.signed({ ...relayer, purpose: 'send' });
  metrics.engine.offered({ ...relayer, outcome: 'accepted' });
  metrics.engine.intentsWaiting(0);
  metrics.engine.stepFailed('evm');
  metrics.engine.decided({ relayerId: 'r1', networkType: 'evm', kind: 'bumped' });
  metrics.engine.relayerChecked('r1', true);
  metrics.engine.relayers([{ id: 'r1', networkType: 'evm', disabledReason: null }]);
  metrics.engine.balances([{ relayerId: 'r1', networkType: 'evm', unit: 'wei', balance: 5n }]);
  metrics.rpc.called({ endpoint: 'https://a.test', method: 'eth_call', outcome: 'transport', ms: 3 });
  metrics.rpc.endpoints([{ network: 'n', endpoint: 'https://a.test', state: 'ready', unanswered: [] }]);
  metrics.rpc.endpointChanged('n', { kind: 'paused', endpoint: 'https://a.test' });
  metrics.http.keyed('first');
  metrics.signers.asked({ signer: 's', type: 'local', outcome: 'answered', seconds: 0.001 });
  metrics.store.stands(true);
  metrics.store.wrote('kept', 0.004);
  metrics.webhooks.tried({ outcome: 'taken', seconds: 0.1 });
  metrics.webhooks.ended('delivered');
  metrics.webhooks.waiting(0);
}

/** Names that break the linter's rules, because the reference's dashboards use them. There are none yet. */
const KEPT_FOR_THE_REFERENCE: readonly string[] = [];

t.test('the metrics pass the linter, both empty and after every event', async (t) => {
  const metrics = createMetrics();
  t.strictSame(lint(parseExposition(await metrics.text())), [...KEPT_FOR_THE_REFERENCE]);
  exercise(metrics);
  const families = parseExposition(await metrics.text());
  t.strictSame(lint(families), [...KEPT_FOR_THE_REFERENCE]);
  for (const [name, { kind, labels }] of Object.entries(METRICS)) {
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
  for (const [name, { kind }] of Object.entries(METRICS)) {
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
    t.strictSame([...parseExposition(`${await metrics.family(name)}\n`).keys()], [name]);
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
