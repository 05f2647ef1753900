import t from 'tap';
import { createMetrics } from '../../../../src/observability/metrics.ts';

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
