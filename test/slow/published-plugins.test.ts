/** Published plugins of others work as elsewhere. Tests each of their routes, up to what needs a chain. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Account, Asset, BASE_FEE, Keypair, Networks, Operation, TransactionBuilder } from '@stellar/stellar-sdk';
import t from 'tap';
import type { Json } from '../../src/domain/json/json.ts';
import { PackageFolder } from '../support/packages/package-oracle.ts';
import { startPluginHost } from '../support/plugin-host.ts';
import { PluginServices } from '../support/plugin-services.ts';

const ADDRESS = Keypair.fromRawEd25519Seed(Buffer.alloc(32, 7)).publicKey();
const SETTINGS: Record<string, string> = {
  STELLAR_NETWORK: 'testnet',
  FUND_RELAYER_ID: 'known',
  PLUGIN_ADMIN_SECRET: 'admin',
  LAUNCHTUBE_ADMIN_SECRET: 'admin',
  SOROBAN_RPC_URL: 'https://rpc.example',
};

function stellarServices(): PluginServices {
  const services = new PluginServices();
  const { relayers, rpc: calls } = services as unknown as {
    relayers: Record<string, unknown>;
    rpc: Record<string, unknown>;
  };
  const relayer = { id: 'known', address: ADDRESS, network: 'testnet', network_type: 'stellar', paused: false };
  relayers['get'] = () => Promise.resolve(relayer);
  relayers['status'] = () => Promise.resolve({ network_type: 'stellar', sequence_number: '1', balance: '1' });
  calls['call'] = () =>
    Promise.resolve({ jsonrpc: '2.0', id: 1, error: { code: -1, message: 'm', description: 'no chain' } });
  services.waited = { id: 'tx-1', status: 'confirmed', hash: 'aa' };
  return services;
}

const folder = new PackageFolder({
  'channels.ts': "export { handler } from '@openzeppelin/relayer-plugin-channels';",
  'launchtube.ts': "export { handler } from '@openzeppelin/relayer-plugin-launchtube';",
  'x402.ts': "export { handler } from '@openzeppelin/relayer-plugin-x402-facilitator';",
});
t.teardown(() => folder.remove());

const services = stellarServices();
const permissions = {
  relayers: { known: ['read', 'send', 'sign', 'rpc'] },
  env: Object.keys(SETTINGS),
  kv: true,
} as never;
/** Wide limits, because the machine may have other work. */
const limits = { slice_ms: 20_000, cpu_ms: 60_000 } as never;
const network = {
  network: 'stellar:testnet',
  type: 'stellar',
  relayer_id: 'known',
  assets: ['CDLZFC3SYJYDZT7K67VZ75HPJVIEUVNIXF47ZG2FB2RMQQVU2HHGCYSC'],
};
const { call, close } = await startPluginHost({
  services,
  pluginsDir: folder.plugins,
  environment: (name) => SETTINGS[name],
  entries: [
    { id: 'channels', permissions, limits },
    { id: 'launchtube', permissions, limits },
    {
      id: 'x402',
      permissions,
      limits,
      allow_get_invocation: true,
      raw_response: true,
      config: { networks: [network] },
    },
  ],
});
t.teardown(close);

// Each of these bundles a large library, which takes long on a busy machine.
for (const id of ['channels', 'launchtube', 'x402']) {
  while ((await call(id, {})).body?.data?.code === 'SERVICE_UNAVAILABLE') await sleep(250);
}

const manage = (id: string, action: string, more: Record<string, Json> = {}) =>
  call(id, { management: { adminSecret: 'admin', action, ...more } });

/** A payment that somebody else has signed. */
function signedPayment(seconds = 30): string {
  const key = Keypair.fromRawEd25519Seed(Buffer.alloc(32, 9));
  const tx = new TransactionBuilder(new Account(key.publicKey(), '1'), {
    fee: BASE_FEE,
    networkPassphrase: Networks.TESTNET,
  })
    .addOperation(Operation.payment({ destination: ADDRESS, asset: Asset.native(), amount: '1' }))
    .setTimeout(seconds)
    .build();
  tx.sign(key);
  return tx.toXDR();
}

t.test('channels is managed', async (t) => {
  const refused = await call('channels', { management: { adminSecret: 'wrong', action: 'stats' } });
  t.match(refused, { status: 401, body: { data: { code: 'UNAUTHORIZED' } } });
  t.match((await manage('channels', 'setChannelAccounts', { relayerIds: ['Known', 'two'] })).body.data, { ok: true });
  t.match((await manage('channels', 'listChannelAccounts')).body.data, { relayerIds: ['known', 'two'] });
  const apiKey = 'k1';
  t.match((await manage('channels', 'setFeeLimit', { apiKey, limit: 1000 })).body.data, { ok: true });
  t.match((await manage('channels', 'getFeeLimit', { apiKey })).body.data, { limit: 1000 });
  t.match((await manage('channels', 'getFeeUsage', { apiKey })).body.data, { consumed: 0 });
  t.match((await manage('channels', 'deleteFeeLimit', { apiKey })).body.data, { ok: true });
  t.equal((await manage('channels', 'stats')).status, 200);
  t.match(await manage('channels', 'nothing'), { status: 400, body: { data: { code: 'INVALID_ACTION' } } });
});

t.test('channels takes a transaction, tells of it and refuses what is wrong', async (t) => {
  const xdr = signedPayment();
  t.match((await call('channels', { xdr })).body.data, { transactionId: 'tx-1', status: 'confirmed', hash: 'aa' });
  t.match(services.sent.at(-1), {
    relayerId: 'known',
    body: { network: 'testnet', transaction_xdr: xdr, fee_bump: true },
  });
  t.match((await call('channels', { xdr, skipWait: true })).body.data, { transactionId: /^tx-/ });
  const found = (await call('channels', { getTransaction: { transactionId: 'tx-1' } })).body;
  t.match(found, { success: true, data: { transactionId: 'tx-1', status: 'mined' } });
  t.match((await call('channels', { xdr: signedPayment(3000) })).body.data.code, 'TIMEBOUNDS_TOO_FAR');
  for (const params of [{}, { xdr, func: 'x' }, { func: 'AAAA', auth: [] }]) {
    const { status, body } = await call('channels', params);
    t.equal(body.success, false);
    t.match([status, body.data.code], [400, String], JSON.stringify(params));
  }
});

t.test('launchtube is managed, and refuses what is wrong', async (t) => {
  t.match((await manage('launchtube', 'setSequenceAccounts', { relayerIds: ['known'] })).body.data, { ok: true });
  t.match((await manage('launchtube', 'listSequenceAccounts')).body.data, { relayerIds: ['known'] });
  t.match(await manage('launchtube', 'nothing'), { status: 400 });
  t.match(await call('launchtube', { sim: false }), { status: 400 });
  t.match((await call('launchtube', { xdr: signedPayment(), sim: true })).body, {
    success: false,
    error: /only one operation of type `invokeHostFunction`/,
    data: { code: 'INVALID_OPERATION', details: { operationType: 'payment' } },
  });
});

t.test('the facilitator serves each of its routes', async (t) => {
  t.match((await call('x402')).body.availableEndpoints.length, 3);
  const supported = {
    kinds: [{ x402Version: 2, scheme: 'exact', network: 'stellar:testnet' }],
    signers: { 'stellar:testnet': [ADDRESS] },
  };
  t.match((await call('x402', {}, { route: '/supported', method: 'GET' })).body, supported);
  t.match((await call('x402', {}, { route: '/verify' })).body, {
    isValid: false,
    invalidReason: 'invalid_exact_payload_malformed',
  });
  t.match((await call('x402', {}, { route: '/settle' })).body, {
    success: false,
    errorReason: 'invalid_exact_payload_malformed',
  });
  t.match(await call('x402', {}, { route: '/other' }), { status: 404, body: { code: 'NOT_FOUND' } });
});
