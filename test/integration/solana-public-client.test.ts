/** The reference's public client, and a plugin, use everything that a Solana relayer offers. The SVM is the judge. */
import { createPublicKey, verify } from 'node:crypto';
import { PublicKey } from '@solana/web3.js';
import t from 'tap';
import { gaslessStage } from '../support/gasless-stage.ts';
import { memo, onWire } from '../support/solana-relayer.ts';
import { anyone } from '../support/svm-scene.ts';

const PAYER = `export async function handler({ api, params }) {
  const sent = await api.useRelayer('local-1').sendTransaction(params);
  const ended = await sent.wait({ interval: 200, timeout: 30_000 });
  return { id: sent.id, signature: ended.signature, status: ended.status };
}
`;

const stage = await gaslessStage(t, {
  plugins: [{ id: 'payer', path: 'payer.ts' }],
  pluginFiles: { 'payer.ts': PAYER },
});
const { sdk, relayer, usd, rpc, policies, built, draft, pay, user, signedBy, tickUntil, connection } = stage;
const ID = 'local-1';
let count = 0;
const USD = usd.mint.toBase58();

const bodyOf = (answer: { data: unknown }) => (answer.data as { data: Record<string, unknown> }).data;
const statusOf = (call: Promise<unknown>) =>
  call.then(
    () => 200,
    ({ response }: { response: { status: number } }) => response.status,
  );

t.test('the public client reads, changes and signs through a relayer', async (t) => {
  await policies({ fee_payment_strategy: 'relayer' });
  t.match(bodyOf(await sdk.getRelayer(ID)), { id: ID, network_type: 'solana', address: relayer.toBase58() });
  t.match((await sdk.listRelayers(1, 10)).data, { data: [{ id: ID }], pagination: { total_items: 1 } });
  t.match(bodyOf(await sdk.getRelayerBalance(ID)), { unit: 'lamport' });
  t.match(bodyOf(await sdk.getRelayerStatus(ID)), { network_type: 'solana', paused: false, system_disabled: false });
  t.match(bodyOf(await sdk.updateRelayer(ID, { name: 'Renamed' })), { name: 'Renamed' });

  const signed = bodyOf(await sdk.sign(ID, { message: 'hello' }));
  t.match(signed, { signature: String, public_key: String });
  const typed = { domain_separator: `0x${'0'.repeat(64)}`, hash_struct_message: `0x${'0'.repeat(64)}` };
  t.equal(await statusOf(sdk.signTypedData(ID, typed)), 400);
  const bytes = await built([], pay0());
  const unsent = bodyOf(await sdk.signTransaction(ID, { transaction: bytes }));
  t.ok(isSigned(String(unsent['transaction'])));
});

t.test('it sends, finds, lists, cancels, and is told what cannot be replaced', async (t) => {
  const sent = bodyOf(await sdk.sendTransaction(ID, { transaction: await built([], pay0()) }));
  const id = String(sent['id']);
  await tickUntil(id, 'confirmed');
  t.match(bodyOf(await sdk.getTransactionById(ID, id)), { id, status: 'confirmed', signature: String });
  t.match((await sdk.listTransactions(ID, 1, 10)).data, { data: [{ id }] });
  t.equal(await statusOf(sdk.cancelTransaction(ID, id)), 400, 'what has ended stays');
  t.equal(await statusOf(sdk.replaceTransaction(ID, id, { transaction: await built([], pay0()) })), 400);
  t.match(bodyOf(await sdk.deletePendingTransactions(ID)), { queued_for_cancellation_transaction_ids: [] });
});

t.test('it calls every JSON-RPC method, and what a node answers passes through', async (t) => {
  await policies({ allowed_tokens: [{ mint: USD }] });
  await usd.give(relayer, 1n);
  const [wallet, to] = [await user(), anyone()];
  await usd.give(to, 1n);
  const asked = { transaction: await draft(wallet.publicKey, pay(wallet, to, 1_000n)), fee_token: USD };
  t.match((await rpc('feeEstimate', asked)).result, { method: 'feeEstimate', estimated_fee: String });
  t.match((await rpc('getSupportedTokens', {})).result, { tokens: [{ mint: USD }] });
  t.match((await rpc('getFeaturesEnabled', {})).result, { features: ['gasless'] });
  const parties = { source: wallet.publicKey.toBase58(), destination: to.toBase58() };
  const moved = (await rpc('transferTransaction', { amount: 5, token: USD, ...parties })).result;
  t.match(moved, { method: 'transferTransaction', fee_token: USD });
  const prepared = (await rpc('prepareTransaction', asked)).result;
  const complete = signedBy(wallet, String(prepared['transaction']));
  t.match((await rpc('signTransaction', { transaction: complete })).result, { signature: String });
  const { id, signature } = (await rpc('signAndSendTransaction', { transaction: complete })).result;
  await tickUntil(String(id), 'confirmed');
  const { value } = await connection.getSignatureStatus(String(signature));
  t.equal(value?.err, null);
  t.equal(await usd.held(to), 1_001n);
  t.type((await rpc('getBlockHeight', [])).result, 'number');
});

t.test('a plugin sends and waits', async (t) => {
  await policies({ fee_payment_strategy: 'relayer' });
  for (const request of [{ instructions: [onWire(pay0())] }, { transaction: await built([], pay0()) }]) {
    const called = stage.service.call('payer', request);
    let isOver = false;
    const answer = called.finally(() => {
      isOver = true;
    });
    while (!isOver) {
      await stage.svm.tick();
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    const { data } = (await answer).body;
    t.match(data, { id: String, status: 'confirmed' });
    const landed = (await stage.svm.landed()).filter(({ signature }) => signature === data.signature);
    t.equal(landed.length, 1);
  }
});

/** An instruction that costs only the fee. */
function pay0() {
  count += 1;
  return memo(`fee ${count}`);
}

function isSigned(base64: string): boolean {
  const bytes = Buffer.from(base64, 'base64');
  const spki = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), new PublicKey(relayer).toBuffer()]);
  return verify(
    null,
    bytes.subarray(65),
    createPublicKey({ key: spki, format: 'der', type: 'spki' }),
    bytes.subarray(1, 65),
  );
}
