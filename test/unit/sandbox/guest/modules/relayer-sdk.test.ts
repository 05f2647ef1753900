import t from 'tap';
import * as sdk from '../../../../../sandbox/guest/modules/relayer-sdk.ts';

t.test('has the error helper and the enums', (t) => {
  const error = sdk.pluginError('m', { code: 'C', status: 422, details: { a: 1 } });
  t.ok(error instanceof sdk.PluginError);
  t.ok(error instanceof Error);
  t.match(error, { name: 'PluginError', message: 'm', code: 'C', status: 422, details: { a: 1 } });
  t.strictSame(Object.keys(sdk.pluginError('m')), ['code', 'status', 'details']);

  t.strictSame(Object.values(sdk.Speed), ['fastest', 'fast', 'average', 'safeLow']);
  t.equal(sdk.Speed.SAFE_LOW, 'safeLow');
  t.strictSame(Object.values(sdk.TransactionStatus).sort(), [
    'canceled',
    'confirmed',
    'expired',
    'failed',
    'mined',
    'pending',
    'sent',
    'submitted',
  ]);
  t.strictSame(Object.values(sdk.RelayerNetworkType), ['evm', 'solana', 'stellar']);
  for (const frozen of [sdk.Speed, sdk.TransactionStatus, sdk.RelayerNetworkType, sdk.LogLevel, sdk.SignerType]) {
    t.ok(Object.isFrozen(frozen));
  }
  t.end();
});

t.test('the enums agree with the public SDK', async (t) => {
  // Its values are facts; an AGPL package may be imported by tests only.
  const original = (await import('@openzeppelin/relayer-sdk')) as unknown as Record<string, Record<string, string>>;
  const { Speed, TransactionStatus, RelayerNetworkType, LogLevel, SignerType } = sdk;
  for (const [name, values] of Object.entries({ Speed, TransactionStatus, RelayerNetworkType, LogLevel, SignerType })) {
    t.strictSame(original[name], { ...values }, name);
  }
});
