import t from 'tap';
import { createMetrics } from '../../../../src/observability/metrics.ts';

t.test('how the store is, and what becomes of writes', async (t) => {
  const metrics = createMetrics();
  t.match(
    await metrics.text(),
    'isolayer_store_write_duration_seconds_count{outcome="failed"} 0',
    'there before the first failure, which were no increase otherwise',
  );
  metrics.store.stands(true);
  metrics.store.wrote('kept', 0.004);
  t.equal(metrics.store.writeFailure, undefined);
  metrics.store.wrote('failed', 6, 'the disk is full');
  metrics.store.wrote('undone', 0);
  t.equal(metrics.store.writeFailure, 'the disk is full', 'until one was written');
  metrics.store.wrote('kept', 0);
  t.equal(metrics.store.writeFailure, undefined);
  const text = await metrics.text();
  t.match(text, /^isolayer_store_healthy 1$/m);
  t.match(text, 'isolayer_store_write_duration_seconds_bucket{le="0.0025",outcome="kept"} 1');
  t.match(text, 'isolayer_store_write_duration_seconds_bucket{le="0.005",outcome="kept"} 2');
  t.match(text, 'isolayer_store_write_duration_seconds_sum{outcome="failed"} 6');
  t.match(text, 'isolayer_store_write_duration_seconds_count{outcome="failed"} 1');
  metrics.store.stands(false);
  t.match(await metrics.text(), /^isolayer_store_healthy 0$/m);
});
