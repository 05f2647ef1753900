import t from 'tap';
import { createMetrics } from '../../../../src/observability/metrics.ts';

t.test('questions to signers, by what came of them', async (t) => {
  const metrics = createMetrics();
  metrics.signers.asked({ signer: 'treasury', type: 'local', outcome: 'ok', seconds: 0.002 });
  metrics.signers.asked({ signer: 'treasury', type: 'local', outcome: 'failed', seconds: 3 });
  const text = await metrics.text();
  t.match(text, 'isolayer_signer_request_duration_seconds_count{signer="treasury",type="local",outcome="ok"} 1');
  t.match(text, 'isolayer_signer_request_duration_seconds_sum{signer="treasury",type="local",outcome="failed"} 3');
});
