/** The reference's public client, and a plugin, send through a Stellar relayer. The ledger is the judge. */
import { Configuration, RelayersApi } from '@openzeppelin/relayer-sdk';
import { Asset, Operation, Transaction, TransactionBuilder } from '@stellar/stellar-sdk';
import t from 'tap';
import { LUMEN } from '../support/stellar-scene.ts';
import { FEE_LEDGERS, payment, stellarStage } from '../support/stellar-stage.ts';

const PAYER = `export async function handler({ api, params }) {
  const sent = await api.useRelayer('local-1').sendTransaction(params);
  const ended = await sent.wait({ interval: 200, timeout: 30_000 });
  return { id: sent.id, hash: ended.hash, status: ended.status, fee: ended.fee };
}
`;

const stage = await stellarStage(
  t,
  {},
  { plugins: [{ id: 'payer', path: 'payer.ts' }], pluginFiles: { 'payer.ts': PAYER } },
);
const { net, relayer, service, funded, signed, balanceOf, sequenceOf, tickUntil } = stage;
const relayers = new RelayersApi(new Configuration({ basePath: service.url, accessToken: service.apiKey }));
const ID = 'local-1';
const account = relayer.publicKey();
const body = (more: object) => ({ network: 'testnet', ...more }) as never;

t.test('a relayer is shown with what it has', async (t) => {
  t.match((await relayers.getRelayer(ID)).data.data, { id: ID, network_type: 'stellar', address: account });
  t.match((await relayers.getRelayerBalance(ID)).data.data, { balance: Number(100n * LUMEN), unit: 'stroop' });
  t.match((await relayers.getRelayerStatus(ID)).data.data, {
    network_type: 'stellar',
    sequence_number: String(await sequenceOf(account)),
    system_disabled: false,
  });
  const rpc = await relayers.rpc(ID, { jsonrpc: '2.0', id: '7', method: 'getNetwork', params: {} });
  t.match(rpc.data, { jsonrpc: '2.0', id: '7', result: { passphrase: net.passphrase } });
});

t.test('payments, calls and fee bumps are sent, looked up and listed', async (t) => {
  const [to, user] = [await funded(), await funded()];
  const native = await net.assetContract('native');
  const call = {
    type: 'invoke_contract',
    contract_address: native,
    function_name: 'transfer',
    args: [{ address: account }, { address: to.publicKey() }, { i128: { hi: '0', lo: String(LUMEN) } }],
  };
  const pays = Operation.payment({ destination: to.publicKey(), asset: Asset.native(), amount: '1' });
  const inner = await signed(user, [pays], { with: (builder) => builder.setTimeout(0) });
  const bodies = [
    body({ operations: [payment(to, LUMEN)], memo: { type: 'text', value: 'tea' } }),
    body({ operations: [call] }),
    body({ transaction_xdr: inner.toXdr(), fee_bump: true, max_fee: 300 }),
  ];
  const ids = [];
  for (const one of bodies) ids.push(String((await relayers.sendTransaction(ID, one)).data.data?.id));
  for (const id of ids) await tickUntil(id, 'confirmed');
  for (const id of ids) {
    t.match((await relayers.getTransactionById(ID, id)).data.data, { id, status: 'confirmed', hash: /^[0-9a-f]{64}$/ });
  }
  const { data: listed } = await relayers.listTransactions(ID, 1, 10);
  t.equal(listed.pagination?.total_items, 3);
  t.equal(await balanceOf(to.publicKey()), 103n * LUMEN);
});

t.test('a channel’s transaction is signed, and another’s stays as it is', async (t) => {
  const own = await signed(relayer, [Operation.bumpSequence({ bumpTo: '0' })], {
    signers: [],
    with: (builder) => builder.setTimeout(100),
  });
  const { data } = await relayers.signTransaction(ID, { unsigned_xdr: own.toXdr() });
  const told = data.data as unknown as { signedXdr: string; signature: string };
  const read = TransactionBuilder.fromXdr(told.signedXdr, net.passphrase);
  t.ok(relayer.verify(read.hash(), Buffer.from(told.signature, 'base64')));
  const refused = await relayers.sign(ID, { message: 'hello' }).catch(({ response }) => response);
  t.match([refused.status, refused.data], [400, { error: 'Signing data not supported for Stellar' }]);
});

t.test('what waits is canceled, and nothing takes the place of another', async (t) => {
  const to = await funded();
  const poor = body({ operations: [payment(to, 10_000n * LUMEN)] });
  const id = String((await relayers.sendTransaction(ID, poor)).data.data?.id);
  const replaced = await relayers.replaceTransaction(ID, id, poor).catch(({ response }) => response);
  t.equal(replaced.status, 400);
  t.equal((await relayers.cancelTransaction(ID, id)).status, 200);
  await stage.until(id, ({ status }) => status === 'canceled');
});

t.test('a plugin sends and waits', async (t) => {
  const to = await funded();
  const called = service.call('payer', body({ operations: [payment(to, LUMEN)] }));
  let isOver = false;
  const answer = called.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await net.tick();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  t.match((await answer).body.data, { status: 'confirmed', hash: /^[0-9a-f]{64}$/, fee: 100 });
  t.equal(await balanceOf(to.publicKey()), 101n * LUMEN);
});

t.test('a user’s transaction is quoted, built and sent, and pays for itself', async (t) => {
  const [to, user] = [await funded(), await funded()];
  // The fee bump of an earlier test raised the recent fees. Wait until they no longer count.
  await net.tick(FEE_LEDGERS);
  await relayers.updateRelayer(ID, { policies: { fee_payment_strategy: 'user' } });
  const asked = { operations: [payment(to, LUMEN)], source_account: user.publicKey(), fee_token: 'native' } as never;
  const quoted = (await relayers.quoteSponsoredTransaction(ID, asked)).data.data as unknown as Sponsored;
  t.match(quoted, { fee_in_token: '300', fee_in_token_ui: '0.00003', conversion_rate: '1' });
  const built = (await relayers.buildSponsoredTransaction(ID, asked)).data.data as unknown as Sponsored;
  t.match(built, { fee_in_token: '300', fee_in_stroops: '300', fee_token: 'native' });
  const transaction = new Transaction(built.transaction, net.passphrase);
  transaction.sign(user);
  const before = await balanceOf(account);
  const sent = await relayers.sendTransaction(ID, body({ transaction_xdr: transaction.toXdr(), fee_bump: true }));
  await tickUntil(String(sent.data.data?.id), 'confirmed');
  t.equal(await balanceOf(account), before, 'it has paid 300 and got 300');
  t.equal(await balanceOf(to.publicKey()), 101n * LUMEN);
});

interface Sponsored {
  transaction: string;
}
