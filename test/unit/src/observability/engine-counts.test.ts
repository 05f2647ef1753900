import t from 'tap';
import { createMetrics } from '../../../../src/observability/metrics.ts';

t.test('transactions and relayers', async (t) => {
  const metrics = createMetrics();
  const move = { networkType: 'evm', relayerId: 'r1' };
  metrics.engine.moved({ ...move, from: 'sent', to: 'submitted' });
  metrics.engine.moved({ ...move, from: 'submitted', to: 'mined' });
  metrics.engine.moved({ ...move, from: 'mined', to: 'submitted' });
  metrics.engine.moved({ ...move, from: 'mined', to: 'confirmed' });
  metrics.engine.moved({ ...move, from: 'pending', to: 'expired' });
  metrics.engine.stepFailed('evm');
  metrics.engine.decided({ relayerId: 'r1', networkType: 'evm', kind: 'gap-filled' });
  metrics.engine.relayerChecked('r1', true);
  metrics.engine.relayerChecked('r2', false);
  const text = await metrics.text();
  const labels = 'relayer_id="r1",network_type="evm"';
  t.match(text, `isolayer_transactions_submitted_total{${labels}} 1`);
  t.match(text, `isolayer_transactions_confirmed_total{${labels}} 1`);
  t.match(text, `isolayer_transactions_failed_total{${labels},failure_reason="expired",previous_status="pending"} 1`);
  t.match(text, `isolayer_transaction_transitions_total{${labels},from="mined",to="submitted"} 1`);
  t.match(text, `isolayer_transaction_decisions_total{${labels},kind="gap-filled"} 1`);
  t.match(text, 'isolayer_lane_faults_total{network_type="evm"} 1');
  t.match(text, 'isolayer_relayer_checks_total{relayer_id="r1",result="passed"} 1');
  t.match(text, 'isolayer_relayer_checks_total{relayer_id="r2",result="failed"} 1');
  t.notMatch(text, 'isolayer_relayer_healthy{', 'which are well the store knows');
});

t.test('accepted ones are counted, open ones are what the store says now', async (t) => {
  const metrics = createMetrics();
  const relayer = { relayerId: 'r1', networkType: 'evm' };
  metrics.engine.accepted(relayer);
  metrics.engine.open(
    [
      { ...relayer, status: 'pending', count: 4, oldestAt: 7_000 },
      { ...relayer, status: 'sent', count: 1, oldestAt: 2_000 },
    ],
    62_000,
  );
  t.match(await metrics.text(), 'isolayer_transactions_oldest_open_age_seconds{relayer_id="r1",network_type="evm"} 60');
  t.match(await metrics.text(), 'isolayer_transactions_created_total{relayer_id="r1",network_type="evm"} 1');
  t.match(await metrics.text(), 'isolayer_transactions_open{relayer_id="r1",network_type="evm",status="pending"} 4');
  metrics.engine.open([{ ...relayer, status: 'mined', count: 1, oldestAt: 9_000 }], 8_000);
  const text = await metrics.text();
  t.match(text, 'isolayer_transactions_open{relayer_id="r1",network_type="evm",status="mined"} 1');
  t.notMatch(text, 'status="pending"');
  t.match(
    text,
    'isolayer_transactions_oldest_open_age_seconds{relayer_id="r1",network_type="evm"} 0',
    'clocks may differ',
  );
});

t.test('versions, offers, intents, and what waits for another moment', async (t) => {
  const metrics = createMetrics();
  const relayer = { relayerId: 'r1', networkType: 'evm' };
  metrics.engine.signed({ ...relayer, purpose: 'bump' });
  metrics.engine.offered({ ...relayer, outcome: 'fee-too-low' });
  metrics.engine.intentsWaiting(3);
  metrics.engine.parked([
    { ...relayer, cause: 'price' },
    { ...relayer, cause: 'price' },
    { ...relayer, cause: 'balance' },
  ]);
  const text = await metrics.text();
  const labels = 'relayer_id="r1",network_type="evm"';
  t.match(text, `isolayer_transaction_versions_total{${labels},purpose="bump"} 1`);
  t.match(text, `isolayer_transaction_broadcasts_total{${labels},outcome="fee-too-low"} 1`);
  t.match(text, '\nisolayer_intents_waiting 3\n');
  t.match(text, `isolayer_transactions_parked{${labels},reason="price"} 2`);
  t.match(text, `isolayer_transactions_parked{${labels},reason="balance"} 1`);
  metrics.engine.parked([]);
  t.notMatch(await metrics.text(), 'isolayer_transactions_parked{');
});

t.test('relayers are told of as they are now, and no more once they are gone', async (t) => {
  const metrics = createMetrics();
  metrics.engine.relayers([
    { id: 'r1', networkType: 'evm', disabledReason: null },
    { id: 'r2', networkType: 'evm', disabledReason: { type: 'BalanceCheckFailed' } },
  ]);
  const text = await metrics.text();
  t.match(text, 'isolayer_relayer_healthy{relayer_id="r1"} 1');
  t.match(text, 'isolayer_relayer_healthy{relayer_id="r2"} 0');
  metrics.engine.relayers([{ id: 'r1', networkType: 'evm', disabledReason: null }]);
  t.notMatch(await metrics.text(), 'isolayer_relayer_healthy{relayer_id="r2"}');
});

t.test('what the alerts look for an increase of is there before it first happens', async (t) => {
  const metrics = createMetrics();
  metrics.engine.relayers([{ id: 'r1', networkType: 'evm', disabledReason: null }]);
  const labels = 'relayer_id="r1",network_type="evm"';
  const text = await metrics.text();
  t.match(text, 'isolayer_lane_faults_total{network_type="evm"} 0');
  t.match(text, `isolayer_transaction_decisions_total{${labels},kind="gap-filled"} 0`);
  t.match(text, `isolayer_transaction_transitions_total{${labels},from="sent",to="submitted"} 0`);
  t.match(text, `isolayer_transactions_failed_total{${labels},failure_reason="expired",previous_status="submitted"} 0`);
  t.match(text, 'isolayer_webhook_events_ended_total{end="dead"} 0');
  t.match(text, 'isolayer_plugin_process_ends_total{plugin_id="",cause="start"} 0');
  metrics.engine.stepFailed('evm');
  metrics.engine.relayers([{ id: 'r1', networkType: 'evm', disabledReason: null }]);
  t.match(await metrics.text(), 'isolayer_lane_faults_total{network_type="evm"} 1', 'and is not begun anew');
  metrics.plugins.standings([{ id: 'p', refused: false }]);
  const begun = await metrics.text();
  t.match(begun, 'isolayer_plugin_process_ends_total{plugin_id="p",cause="memory"} 0');
  t.match(begun, 'isolayer_plugin_call_outcomes_total{plugin_id="p",outcome="SANDBOX_LOST"} 0');
});
