/** What Prometheus gets from a running service, also while the service is busy. */
import t from 'tap';
import { composeService } from '../support/composed-service.ts';
import { lint, parseExposition } from '../support/exposition.ts';
import { createWorkspace } from '../support/workspace.ts';

const CALLS = 200;

t.test('scrapes under load are whole, clean, and count every call', async (t) => {
  const workspace = await createWorkspace({
    pluginFiles: {
      'work.ts': `export const handler = ({ params }) => { if (params.fail) throw new Error('no'); return 1; };`,
    },
    plugins: [{ id: 'work', path: 'work.ts' }],
    env: { METRICS_ENABLED: 'true', METRICS_PORT: '0' },
  });
  t.teardown(() => workspace.remove());
  const service = await composeService(workspace.env);
  t.teardown(() => service.stop());
  const metrics = /"metricsAddress":"([^"]+)"/.exec(service.output())?.[1];
  const scrape = async () => {
    const answer = await fetch(`${metrics}/metrics`);
    t.equal(answer.status, 200);
    return parseExposition(await answer.text());
  };

  let isBusy = true;
  const work = Promise.all(Array.from({ length: CALLS }, (_, n) => service.call('work', { fail: n % 4 === 0 }))).then(
    (answers) => {
      isBusy = false;
      return answers;
    },
  );
  let scrapes = 0;
  do {
    t.strictSame(lint(await scrape()), []);
    scrapes += 1;
  } while (isBusy && scrapes < 1000);
  const answers = await work;
  t.ok(answers.every(({ status }) => status === 200 || status === 500));

  const families = await scrape();
  const sum = (name: string, labels: Record<string, string>) =>
    (families.get(name)?.samples ?? [])
      .filter(
        (sample) =>
          sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
      )
      .reduce((total, { value }) => total + value, 0);
  t.equal(sum('isolayer_plugin_calls_total', { plugin_id: 'work' }), CALLS);
  t.equal(sum('isolayer_plugin_calls_total', { plugin_id: 'work', status: '500' }), CALLS / 4);
  t.equal(sum('isolayer_plugin_call_outcomes_total', { plugin_id: 'work', outcome: 'threw' }), CALLS / 4);
  t.equal(sum('isolayer_http_requests_total', { endpoint: '/api/v1/plugins/:id/call', method: 'POST' }), CALLS);
  t.ok(sum('isolayer_plugin_processes', {}) >= 1);
  t.strictSame(
    families.get('isolayer_plugin_refused')?.samples.map(({ labels, value }) => [labels['plugin_id'], value]),
    [['work', 0]],
  );
  t.equal(sum('isolayer_store_healthy', {}), 1);
  t.ok(sum('isolayer_plugin_resident_memory_bytes', {}) > 1_000_000);
  t.ok(sum('process_resident_memory_bytes', {}) > 1_000_000);

  const names = await service.request('GET', '/api/v1/metrics');
  t.ok(names.body.includes('isolayer_plugin_calls_total'));
  t.equal((await fetch(`${service.url}/api/v1/metrics`)).status, 401);
  t.notMatch(JSON.stringify([...families]), service.apiKey);
});
