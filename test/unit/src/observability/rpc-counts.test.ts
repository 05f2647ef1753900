import t from 'tap';
import { createMetrics } from '../../../../src/observability/metrics.ts';

t.test('callers of the pass-through cannot make up labels without end', async (t) => {
  const metrics = createMetrics();
  const call = { endpoint: 'https://a.test', outcome: 'ok', ms: 20 };
  metrics.rpc.called({ ...call, method: 'eth_call', outcome: 'transport' });
  for (let n = 0; n < 200; n += 1) metrics.rpc.called({ ...call, method: `made_up_${n}` });
  metrics.rpc.called({ ...call, method: 'a"b\n' });
  const text = (await metrics.family('isolayer_rpc_call_duration_seconds')) ?? '';
  const names = new Set([...text.matchAll(/operation_name="([^"]*)"/g)].map(([, name]) => name));
  t.ok(names.size <= 65, `${names.size} names`);
  t.ok(names.has('eth_call') && names.has('other'));
  t.match(
    await metrics.text(),
    'isolayer_rpc_call_failures_total{endpoint="https://a.test",operation_name="eth_call",error_type="transport"} 1',
  );
});

t.test('endpoints of one name are added up, and each of their states has a figure', async (t) => {
  const metrics = createMetrics();
  const one = { network: 'sepolia', endpoint: 'https://a.test', concurrency: 16, unanswered: [] };
  metrics.rpc.endpoints([
    { ...one, state: 'ready' },
    { ...one, state: 'paused' },
  ]);
  metrics.rpc.endpointChanged('sepolia', { kind: 'paused', endpoint: 'https://a.test' });
  metrics.rpc.endpointChanged('sepolia', { kind: 'back', endpoint: 'https://a.test' });
  const labels = 'network="sepolia",endpoint="https://a.test"';
  const text = await metrics.text();
  for (const [state, count] of Object.entries({ ready: 1, paused: 1, limited: 0, unfit: 0 })) {
    t.match(text, `isolayer_rpc_endpoints{${labels},state="${state}"} ${count}`);
  }
  t.match(text, `isolayer_rpc_endpoint_concurrency_limit{${labels}} 32`);
  t.match(text, `isolayer_rpc_endpoint_pauses_total{${labels},reason="paused"} 1`);
  t.notMatch(text, 'reason="back"');
  metrics.rpc.endpoints([]);
  t.notMatch(await metrics.text(), 'isolayer_rpc_endpoints{');
});
