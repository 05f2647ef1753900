import t from 'tap';
import { relayerView } from '../../../../../src/domain/relayer/relayer-view.ts';
import { relayerOf } from '../../../../support/store.ts';

t.test('what is unset is left out, what is set stands in its place', (t) => {
  const bare = relayerView(relayerOf(), undefined);
  t.strictSame(Object.keys(bare), [
    'id',
    'name',
    'network',
    'network_type',
    'paused',
    'signer_id',
    'address',
    'system_disabled',
  ]);
  const disabledReason = { type: 'NonceSyncFailed', details: 'Nonce synchronization failed' } as const;
  const full = relayerView(
    relayerOf({ notificationId: 'n1', customRpcUrls: [{ url: 'https://rpc.example/key', weight: 7 }], disabledReason }),
    { min_balance: 1n },
  );
  t.strictSame(Object.keys(full), [
    'id',
    'name',
    'network',
    'network_type',
    'paused',
    'policies',
    'signer_id',
    'notification_id',
    'custom_rpc_urls',
    'address',
    'system_disabled',
    'disabled_reason',
  ]);
  t.match(full, {
    custom_rpc_urls: [{ url: 'https://rpc.example/***', weight: 7 }],
    system_disabled: true,
    disabled_reason: disabledReason,
  });
  t.strictSame(relayerView(relayerOf({ customRpcUrls: [] }), undefined)['custom_rpc_urls'], []);
  t.end();
});
