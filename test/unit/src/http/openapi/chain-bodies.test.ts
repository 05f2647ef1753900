import t from 'tap';
import { describedBodies } from '../../../../support/described.ts';

t.test('each family is shown under its own name', (t) => {
  const { named, policies, networks, request } = describedBodies();
  t.strictSame(Object.keys(named), [
    'EvmPolicies',
    'SolanaPolicies',
    'StellarPolicies',
    'EvmRelayer',
    'SolanaRelayer',
    'StellarRelayer',
    'AwsKmsSigner',
    'GoogleCloudKmsSigner',
    'AzureKeyVaultSigner',
    'VaultSigner',
    'VaultTransitSigner',
    'TurnkeySigner',
    'CdpSigner',
    'PlainSigner',
    'EvmNetwork',
    'SolanaNetwork',
    'StellarNetwork',
    'EvmNetworkUpdate',
    'SolanaNetworkUpdate',
    'StellarNetworkUpdate',
    'EvmTransactionRequest',
    'SolanaTransactionRequest',
    'StellarTransactionRequest',
    'EvmTypedData',
    'EvmUnsentTransaction',
    'SolanaUnsentTransaction',
    'StellarUnsentTransaction',
    'SolanaSponsoredTransaction',
    'StellarSponsoredTransaction',
  ]);
  t.ok(policies.schema.safeParse({ gas_price_cap: 5 }).success);
  t.ok(policies.schema.safeParse({ allowed_programs: [] }).success);
  t.notOk(policies.schema.safeParse({ no_such_policy: 1 }).success);
  const network = { name: 'n', network_type: 'stellar', rpc_urls: ['https://rpc.example'], passphrase: 'mine' };
  t.ok(networks.create.schema.safeParse(network).success);
  t.notOk(networks.create.schema.safeParse({ ...network, chain_id: 5 }).success, 'a field of another family');
  t.ok(networks.update.schema.safeParse({ passphrase: null }).success);
  t.ok(request.schema.safeParse({ value: 1, data: '0x' }).success);
  t.end();
});
