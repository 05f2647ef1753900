import t from 'tap';
import { createMetrics } from '../../../../src/observability/metrics.ts';

t.test('callers of the pass-through cannot make up labels without end', async (t) => {
  const metrics = createMetrics();
  const call = { endpoint: 'https://a.test', outcome: 'ok', ms: 20 };
  metrics.rpc.called({ ...call, method: 'eth_call', outcome: 'timeout' });
  for (let n = 0; n < 200; n += 1) metrics.rpc.called({ ...call, method: `made_up_${n}` });
  metrics.rpc.called({ ...call, method: 'a"b\n' });
  const text = (await metrics.family('rpc_call_latency_seconds')) ?? '';
  const names = new Set([...text.matchAll(/operation_name="([^"]*)"/g)].map(([, name]) => name));
  t.ok(names.size <= 65, `${names.size} names`);
  t.ok(names.has('eth_call') && names.has('other'));
  t.match(
    await metrics.text(),
    'api_rpc_failures_total{endpoint="https://a.test",operation_name="eth_call",error_type="timeout"} 1',
  );
});
