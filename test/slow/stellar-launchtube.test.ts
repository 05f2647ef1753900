/** The published launchtube plugin, unchanged, relays over sequence accounts. The ledger is the judge. */
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { authorizeEntry, Keypair, Networks, Operation, rpc, xdr } from '@stellar/stellar-sdk';
import t, { type Test } from 'tap';
import { startService } from '../support/service.ts';
import { i128, invoke, address as val } from '../support/stellar-contract-scene.ts';
import { LUMEN, startStellarScene } from '../support/stellar-scene.ts';
import { startTlsFront } from '../support/tls-front.ts';
import { createWorkspace } from '../support/workspace.ts';

// The plugin only knows the public networks, and waits for ledgers that close by themselves.
const scene = await startStellarScene({ passphrase: Networks.TESTNET, ledgerMs: 1_000 });
const { net, server, funded, signed, balanceOf } = scene;
t.teardown(() => net.stop());
// The plugin also calls a node directly, only over TLS.
const front = await startTlsFront(t, net.url);
const SETTINGS = {
  STELLAR_NETWORK: 'testnet',
  FUND_RELAYER_ID: 'local-1',
  LAUNCHTUBE_ADMIN_SECRET: 'admin',
  LOCK_TTL_SECONDS: '15',
  SOROBAN_RPC_URL: front.url,
};
const sequenceAccounts = ['local-2', 'local-3'];
const grants = ['read', 'send', 'sign', 'rpc'];
const workspace = await createWorkspace({
  rpcUrl: net.url,
  accounts: 3,
  relayer: { network_type: 'stellar', policies: { fee_payment_strategy: 'relayer' } },
  network: { type: 'stellar', passphrase: net.passphrase, average_blocktime_ms: 1_000 },
  pluginFiles: { 'launchtube.ts': "export { handler } from '@openzeppelin/relayer-plugin-launchtube';" },
  plugins: [
    {
      id: 'launchtube',
      path: 'launchtube.ts',
      permissions: {
        relayers: Object.fromEntries(['local-1', ...sequenceAccounts].map((id) => [id, grants])),
        env: Object.keys(SETTINGS),
        kv: true,
        hosts: [{ host: new URL(front.url).host, private: true, methods: ['GET', 'POST'] }],
      },
      limits: { slice_ms: 20_000, cpu_ms: 60_000 },
    },
  ],
  env: { ...SETTINGS, NODE_EXTRA_CA_CERTS: front.certificate },
});
t.teardown(() => workspace.remove());
await symlink(join(import.meta.dirname, '..', '..', 'node_modules'), join(workspace.dir, 'node_modules'));
for (const key of workspace.privateKeys) {
  const publicKey = Keypair.fromRawEd25519Seed(Buffer.from(key.slice(2), 'hex')).publicKey();
  await net.fund(publicKey, 1_000n * LUMEN);
}
const service = await startService(workspace.env);
t.teardown(() => service.stop());

const call = async (params: object) => (await service.call('launchtube', params)).body;
const manage = (action: string, more = {}) => call({ management: { adminSecret: 'admin', action, ...more } });

t.test('it is managed', async (t) => {
  t.match((await manage('setSequenceAccounts', { relayerIds: sequenceAccounts })).data, { ok: true });
  t.match((await manage('listSequenceAccounts')).data, { relayerIds: sequenceAccounts });
  t.match(await call({ management: { adminSecret: 'wrong', action: 'listSequenceAccounts' } }), { success: false });
});

/** A transfer of one lumen with its owner's authorization, which any sender may use. */
async function transfer() {
  const [owner, to] = [await funded(), await funded()];
  const native = await net.assetContract('native');
  const operation = invoke(native, 'transfer', val(owner), val(to), i128(LUMEN));
  if (operation.body.type !== 'invokeHostFunction') throw new Error('a call');
  const { hostFunction: func } = operation.body.invokeHostFunctionOp;
  const found = await server.simulateTransaction(await signed(to, [operation], { signers: [] }));
  if (!rpc.Api.isSimulationSuccess(found)) throw new Error(found.error);
  const consents = (found.result?.auth ?? []).map((entry) =>
    authorizeEntry(inFirstForm(entry), owner, found.latestLedger + 1_000, net.passphrase),
  );
  return { owner, to, operation, func, auth: await Promise.all(consents) };
}

async function assertPaid(t: Test, params: object, { owner, to }: { owner: Keypair; to: Keypair }): Promise<void> {
  const answer = await call(params);
  t.match(answer, { success: true, data: { status: 'confirmed' } }, JSON.stringify(answer));
  t.equal(await balanceOf(to.publicKey()), 101n * LUMEN);
  t.equal(await balanceOf(owner.publicKey()), 99n * LUMEN, 'it paid no fee');
}

t.test('a call is simulated at its own node, given a sequence and paid for', async (t) => {
  const one = await transfer();
  const auth = one.auth.map((entry) => entry.toXdr('base64'));
  await assertPaid(t, { func: one.func.toXdr('base64'), auth }, one);
});

t.test('a call inside a transaction is simulated, given a sequence and paid for as well', async (t) => {
  const one = await transfer();
  const call = Operation.invokeHostFunction({ func: one.func, auth: one.auth });
  const draft = await signed(one.to, [call], { with: (builder) => builder.setTimeout(25), signers: [] });
  await assertPaid(t, { xdr: draft.toXdr() }, one);
});

t.test('what its owner has prepared and signed goes out as it is', async (t) => {
  const one = await transfer();
  const draft = await signed(one.owner, [one.operation], { with: (builder) => builder.setTimeout(25), signers: [] });
  const prepared = await server.prepareTransaction(draft);
  prepared.sign(one.owner);
  await assertPaid(t, { xdr: prepared.toXdr(), sim: false }, one);
});

/** The plugin's library has an older protocol, which does not know the second form of credentials. */
function inFirstForm({ credentials, rootInvocation }: xdr.SorobanAuthorizationEntry): xdr.SorobanAuthorizationEntry {
  const first =
    credentials.type === 'sorobanCredentialsAddressV2'
      ? xdr.SorobanCredentials.sorobanCredentialsAddress(credentials.addressV2)
      : credentials;
  return new xdr.SorobanAuthorizationEntry({ credentials: first, rootInvocation });
}
