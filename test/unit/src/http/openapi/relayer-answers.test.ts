import t from 'tap';
import { createChains } from '../../../../../src/chains/registry.ts';
import { systemClock } from '../../../../../src/domain/clock.ts';
import { relayerView } from '../../../../../src/domain/relayer/relayer.ts';
import { relayerAnswers } from '../../../../../src/http/openapi/relayer-answers.ts';
import { relayerOf } from '../../../../support/store.ts';

const answers = relayerAnswers([...createChains(systemClock).values()]);

t.test('a relayer, whatever is set', (t) => {
  const details = 'why';
  for (const relayer of [
    relayerOf(),
    relayerOf({
      notificationId: 'n',
      customRpcUrls: [{ url: 'https://node.test/key', weight: 3 }],
      disabledReason: { type: 'Multiple', details: [{ type: 'NonceSyncFailed', details }] },
    }),
    relayerOf({ disabledReason: { type: 'BalanceCheckFailed', details } }),
  ]) {
    const view = relayerView(relayer, { min_balance: 1 });
    t.strictSame(answers.relayer.parse(view), view);
  }
  t.end();
});

t.test('each family adds its unit, its sequence and what disables its relayers', (t) => {
  for (const unit of ['wei', 'lamport', 'stroop']) t.ok(answers.balance.safeParse({ balance: 1, unit }).success, unit);
  t.notOk(answers.balance.safeParse({ balance: 1, unit: 'penny' }).success);
  const status = {
    network_type: 'evm',
    balance: '1',
    pending_transactions_count: 0,
    last_confirmed_transaction_timestamp: null,
    system_disabled: false,
    paused: false,
    nonce: null,
    sequence_number: '7',
  };
  t.strictSame(answers.status.parse(status), status);
  const disabled = (type: string) => relayerView(relayerOf({ disabledReason: { type, details: 'why' } }), undefined);
  for (const type of ['NonceSyncFailed', 'SequenceSyncFailed', 'RpcValidationFailed']) {
    t.ok(answers.relayer.safeParse(disabled(type)).success, type);
  }
  t.notOk(answers.relayer.safeParse(disabled('MoonPhaseFailed')).success);
  t.end();
});
