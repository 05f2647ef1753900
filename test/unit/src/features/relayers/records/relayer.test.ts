import t from 'tap';
import { disabledReasonView, disabledText } from '../../../../../../src/features/relayers/records/disabled-reason.ts';
import {
  networkNotReached,
  relayerDisabled,
  relayerView,
} from '../../../../../../src/features/relayers/records/relayer.ts';
import { relayerOf } from '../../../../../support/store.ts';

t.test('disabled reason', async (t) => {
  const away = { type: 'RpcValidationFailed', details: 'RPC endpoint validation failed: connection refused' } as const;
  const poor = { type: 'BalanceCheckFailed', details: 'Insufficient balance: 0xaa has 0 wei' } as const;

  t.test('the causes in one line, each once, and when they are looked at next', (t) => {
    t.equal(disabledText(away), away.details);
    const several = { type: 'Multiple' as const, details: [away, poor, away], nextCheckAt: 1_700_000_000_000 };
    t.equal(disabledText(several), `${away.details}; ${poor.details} (checked again at 2023-11-14T22:13:20.000+00:00)`);
    t.ok(disabledText({ ...away, details: 'x'.repeat(9_000) }).length <= 1_000);
    t.end();
  });

  t.test('clients see the reference’s keys beside the next look', (t) => {
    t.strictSame(disabledReasonView(away), away);
    t.strictSame(disabledReasonView({ type: 'Multiple', details: [away, poor], nextCheckAt: 1_700_000_000_000 }), {
      type: 'Multiple',
      details: [away, poor],
      next_check_at: '2023-11-14T22:13:20.000+00:00',
    });
    t.end();
  });

  t.test('a refusal carries the reason, for programs and for people', (t) => {
    t.match(relayerDisabled(poor), {
      code: 'RELAYER_DISABLED',
      status: 403,
      message: `Relayer disabled: ${poor.details}`,
      disabledReason: poor,
    });
    t.match(networkNotReached('sepolia'), {
      message: 'Relayer disabled: network sepolia was not reached yet',
      disabledReason: { type: 'RpcValidationFailed', details: 'network sepolia was not reached yet' },
    });
    t.match(networkNotReached(), { message: 'Relayer disabled: its network was not reached yet' });
    t.end();
  });
});

t.test('a view leaves out what is unset, and hides keys in URLs', async (t) => {
  const bare = relayerView(relayerOf(), undefined);
  for (const key of ['policies', 'notification_id', 'custom_rpc_urls', 'disabled_reason']) t.notOk(key in bare, key);
  const disabledReason = { type: 'NonceSyncFailed', details: 'Nonce synchronization failed' } as const;
  const customRpcUrls = [{ url: 'https://rpc.example/key', weight: 7 }];
  const full = relayerView(relayerOf({ notificationId: 'n1', customRpcUrls, disabledReason }), { min_balance: 1n });
  t.match(full, {
    policies: { min_balance: 1n },
    notification_id: 'n1',
    custom_rpc_urls: [{ url: 'https://rpc.example/***', weight: 7 }],
    system_disabled: true,
    disabled_reason: disabledReason,
  });
  t.strictSame(relayerView(relayerOf({ customRpcUrls: [] }), undefined)['custom_rpc_urls'], []);
});
