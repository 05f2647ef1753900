import t from 'tap';
import { createMetrics } from '../../../../src/observability/metrics.ts';

t.test('deliveries, their ends and what waits', async (t) => {
  const metrics = createMetrics();
  metrics.webhooks.tried({ outcome: 'status', seconds: 0.02 });
  metrics.webhooks.ended('delivered');
  metrics.webhooks.waiting(3);
  const text = await metrics.text();
  t.match(text, 'isolayer_webhook_delivery_duration_seconds_bucket{le="0.025",outcome="status"} 1');
  t.match(text, 'isolayer_webhook_events_ended_total{end="delivered"} 1');
  t.match(text, /^isolayer_webhook_events_waiting 3$/m);
});
