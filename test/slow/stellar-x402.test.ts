/**
 * The published facilitator of x402, unchanged: each of its routes over HTTP, up to a payment that its relayer settles
 * on the ledger.
 */
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { Keypair, Networks } from '@stellar/stellar-sdk';
import t from 'tap';
import { composeService } from '../support/composed-service.ts';
import { i128, invoke, address as val, withAuth } from '../support/stellar-contract-scene.ts';
import { consentsTo, LUMEN, startStellarScene } from '../support/stellar-scene.ts';
import { createWorkspace } from '../support/workspace.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const NETWORK = 'stellar:testnet';
/** The ledgers for which the payer's authorization is valid. The facilitator counts five seconds for each. */
const [LEDGERS, SECONDS] = [2_000, 10_000];

const scene = await startStellarScene({ passphrase: Networks.TESTNET, ledgerMs: 1_000 });
const { net, funded, signed, balanceOf } = scene;
t.teardown(() => net.stop());
const native = await net.assetContract('native');
const workspace = await createWorkspace({
  rpcUrl: net.url,
  // The plugin knows the public networks by the relayers' network names.
  network: { network: 'testnet', type: 'stellar', passphrase: net.passphrase, average_blocktime_ms: 1_000 },
  relayer: { network: 'testnet', network_type: 'stellar', policies: { fee_payment_strategy: 'relayer' } },
  pluginFiles: { 'x402.ts': "export { handler } from '@openzeppelin/relayer-plugin-x402-facilitator';" },
  plugins: [
    {
      id: 'x402',
      path: 'x402.ts',
      raw_response: true,
      allow_get_invocation: true,
      limits: { slice_ms: 20_000, cpu_ms: 60_000 },
      config: { networks: [{ network: NETWORK, type: 'stellar', relayer_id: 'local-1', assets: [native] }] },
    },
  ],
});
t.teardown(() => workspace.remove());
await symlink(join(ROOT, 'node_modules'), join(workspace.dir, 'node_modules'));
const relayer = Keypair.fromRawEd25519Seed(Buffer.from(workspace.privateKey.slice(2), 'hex')).publicKey();
await net.fund(relayer, 100n * LUMEN);
const service = await composeService(workspace.env);
t.teardown(() => service.stop());

const ask = async (route: string, body?: object) => {
  const path = `/api/v1/plugins/x402/call${route}`;
  return service.request(body === undefined ? 'GET' : 'POST', path, body);
};

/** A client's payment: a transfer with its owner's authorization, in an unsigned envelope. */
async function payment(owner: Keypair, to: Keypair, amount: bigint) {
  const operation = invoke(native, 'transfer', val(owner), val(to), i128(amount));
  const consents = await consentsTo(scene, operation, { owner, sender: to, ledgers: LEDGERS });
  const envelope = await signed(to, [withAuth(operation, consents)], { signers: [], fee: '10000000' });
  const accepted = { scheme: 'exact', network: NETWORK, asset: native, amount: String(amount), payTo: to.publicKey() };
  const terms = { ...accepted, maxTimeoutSeconds: SECONDS, extra: { areFeesSponsored: true } };
  return {
    paymentPayload: { x402Version: 2, accepted: terms, payload: { transaction: envelope.toXdr() } },
    paymentRequirements: terms,
  };
}

t.test('it says what it has, and for which networks', async (t) => {
  t.match(await ask(''), { status: 200, body: { availableEndpoints: [/verify/, /settle/, /supported/] } });
  t.match(await ask('/supported'), {
    status: 200,
    body: { kinds: [{ x402Version: 2, scheme: 'exact', network: NETWORK }], signers: { [NETWORK]: [relayer] } },
  });
  t.match(await ask('/nothing'), { status: 404, body: { code: 'NOT_FOUND' } });
});

t.test('a payment is verified, and settled once', async (t) => {
  const [owner, to] = [await funded(), await funded()];
  const asked = await payment(owner, to, 3n * LUMEN);
  t.match(await ask('/verify', asked), { status: 200, body: { isValid: true, payer: owner.publicKey() } });
  t.equal(await balanceOf(to.publicKey()), 100n * LUMEN, 'nothing has moved');

  const { body } = await ask('/settle', asked);
  t.match(body, { success: true, transaction: /^[0-9a-f]{64}$/, network: NETWORK, payer: owner.publicKey() });
  t.equal(await balanceOf(to.publicKey()), 103n * LUMEN);
  t.equal(await balanceOf(owner.publicKey()), 97n * LUMEN, 'the relayer has paid the fee');
  const [landed] = (await net.landed()).filter(({ hash }) => hash === body.transaction);
  t.match(landed, { source: relayer, isSuccessful: true });

  t.match(await ask('/settle', asked), { body: { success: false } }, 'a consent is good once');
  t.equal(await balanceOf(to.publicKey()), 103n * LUMEN);
});

t.test('a payment of another amount than the required one is refused', async (t) => {
  const [owner, to] = [await funded(), await funded()];
  const asked = await payment(owner, to, LUMEN);
  const other = { ...asked, paymentRequirements: { ...asked.paymentRequirements, amount: '5' } };
  t.match(await ask('/verify', other), { body: { isValid: false, invalidReason: /wrong_amount/ } });
  t.match(await ask('/settle', other), { body: { success: false } });
  t.equal(await balanceOf(to.publicKey()), 100n * LUMEN);
});
