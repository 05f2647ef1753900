/** A Stellar relayer and transactions that clients wrote as XDR: its own, and those of others whose fee it pays. */
import { Asset, Keypair, Operation, type Transaction, type TransactionBuilder, type xdr } from '@stellar/stellar-sdk';
import t from 'tap';
import { LUMEN } from '../support/stellar-scene.ts';
import { payment, stellarStage } from '../support/stellar-stage.ts';

const stage = await stellarStage(t);
const { net, relayer, submit, post, ask, until, tickUntil, funded, signed, bumped, send, balanceOf, sequenceOf } =
  stage;

const pay = (to: Keypair, amount: string) =>
  Operation.payment({ destination: to.publicKey(), amount, asset: Asset.native() });

/** The landed transactions with this hash, of the envelope or of the inner transaction. */
const landed = async (hash: string) =>
  (await net.landed()).filter((one) => one.hash === hash || one.innerHash === hash);

const inBase64 = (transaction: Transaction) => transaction.toXdr();
const hashOf = (transaction: Transaction) => Buffer.from(transaction.hash()).toString('hex');

t.test('an envelope of its own gets sequence, fee, end and signature', async (t) => {
  const to = await funded();
  const draft = await signed(relayer, [pay(to, '1.5')], { sequence: 5n, fee: '300', signers: [] });
  const id = await submit({ transaction_xdr: inBase64(draft) });
  const sent = await until(id, ({ status }) => status === 'submitted');
  t.equal(sent.sequence_number, String((await sequenceOf(relayer.publicKey())) + 1n));
  const { hash } = await tickUntil(id, 'confirmed');
  t.match(await landed(hash), [{ source: relayer.publicKey(), isSuccessful: true }]);
  t.equal(await balanceOf(to.publicKey()), 101n * LUMEN + LUMEN / 2n);
});

t.test('what another account has signed goes out in a fee bump of exactly max_fee', async (t) => {
  const [client, to] = [await funded(), await funded()];
  const inner = await signed(client, [pay(to, '2')]);
  const before = await balanceOf(relayer.publicKey());
  const body = { transaction_xdr: inBase64(inner), fee_bump: true, max_fee: 5_000 };
  const id = await submit(body);
  t.equal(await submit(body), id, 'posted twice it is one transaction');
  const sent = await until(id, ({ status }) => status === 'submitted');
  t.match(sent, { fee: 5_000, sequence_number: '0', source_account: relayer.publicKey() });
  const confirmed = await tickUntil(id, 'confirmed');
  t.equal(confirmed.fee, 200, 'the ledger takes no more than others pay');
  t.match(await landed(hashOf(inner)), [
    { hash: confirmed.hash, feeSource: relayer.publicKey(), source: client.publicKey(), isSuccessful: true },
  ]);
  t.equal(before - (await balanceOf(relayer.publicKey())), 200n);
  t.equal(await balanceOf(client.publicKey()), 98n * LUMEN);
});

t.test('fee bumps of several accounts land in one ledger', async (t) => {
  const to = await funded();
  const clients = await Promise.all(Array.from({ length: 5 }, () => funded()));
  const ids = [];
  for (const client of clients) {
    const inner = await signed(client, [pay(to, '1')]);
    ids.push(await submit({ transaction_xdr: inBase64(inner), fee_bump: true }));
  }
  for (const id of ids) await until(id, ({ status }) => status === 'submitted');
  await net.tick();
  for (const id of ids) await until(id, ({ status }) => status === 'confirmed');
  const ledgers = (await net.landed()).slice(-5).map(({ ledger }) => ledger);
  t.equal(new Set(ledgers).size, 1);
});

t.test('what the client itself has sent is confirmed, and costs nothing', async (t) => {
  const [client, to] = [await funded(), await funded()];
  const inner = await signed(client, [pay(to, '1')]);
  await net.dropNext(1_000);
  const id = await submit({ transaction_xdr: inBase64(inner), fee_bump: true });
  await until(id, ({ status }) => status === 'submitted');
  await net.dropNext(0);
  const other = await net.endpoint();
  t.match(await other.rpc('sendTransaction', { transaction: inBase64(inner) }), { status: 'PENDING' });
  const confirmed = await tickUntil(id, 'confirmed');
  t.match(confirmed, { hash: hashOf(inner), fee: 0 });
  t.equal((await landed(hashOf(inner))).length, 1);
});

t.test('another use of the client’s sequence is the end of it', async (t) => {
  const [client, to] = [await funded(), await funded()];
  const inner = await signed(client, [pay(to, '1')]);
  const rival = await signed(client, [pay(to, '3')]);
  t.equal(rival.sequence, inner.sequence);
  t.equal(await send(rival), 'PENDING');
  await net.tick();
  const id = await submit({ transaction_xdr: inBase64(inner), fee_bump: true });
  const failed = await tickUntil(id, 'failed');
  t.match(failed.status_reason, new RegExp(`Sequence ${inner.sequence} of ${client.publicKey()} was used`));
  t.equal((await landed(hashOf(inner))).length, 0);
});

t.test('its time bounds end it, when a ledger has closed behind them', async (t) => {
  const [client, to] = [await funded(), await funded()];
  const { closeTime } = (await net.rpc('getLatestLedger')) as { closeTime: string };
  const end = Math.max(Number(closeTime), Math.floor(Date.now() / 1000)) + 60;
  const inner = await signed(client, [pay(to, '1')], { with: (builder) => builder.setTimebounds(0, end) });
  await net.dropNext(1_000);
  const id = await submit({ transaction_xdr: inBase64(inner), fee_bump: true });
  await until(id, ({ status }) => status === 'submitted');
  await net.dropNext(0);
  await net.travel(90);
  await tickUntil(id, 'expired');
  await net.tick(3);
  t.equal((await landed(hashOf(inner))).length, 0);
});

t.test('what fails within is told by the code within', async (t) => {
  const client = await funded();
  const inner = await signed(client, [pay(Keypair.random(), '1')]);
  const id = await submit({ transaction_xdr: inBase64(inner), fee_bump: true });
  const failed = await tickUntil(id, 'failed');
  t.match(failed.status_reason, /reason=TxFailed op=PaymentNoDestination/);
});

t.test('bad envelopes are refused at once, with their place', async (t) => {
  const [client, to] = [await funded(), await funded()];
  const own = async (operations: xdr.Operation[], how = {}) =>
    inBase64(await signed(relayer, operations, { signers: [], ...how }));
  const good = await signed(client, [pay(to, '1')]);
  const ownGood = await own([pay(to, '1')]);
  const ofRelayer = Operation.payment({
    destination: to.publicKey(),
    amount: '1',
    asset: Asset.native(),
    source: relayer.publicKey(),
  });
  const bump = bumped(good, relayer, 400n).toXdr();
  const past = { with: (builder: TransactionBuilder) => builder.setTimebounds(0, 1_000) };
  const elsewhere = await signed(client, [pay(to, '1')], { passphrase: 'Another network' });
  const numbered = { with: (builder: TransactionBuilder) => builder.setTimeout(300).setMinAccountSequence('1') };
  const cases: [object, RegExp][] = [
    [{ transaction_xdr: 'AAAA' }, /Invalid XDR: invalid `transaction_xdr`/],
    [{ transaction_xdr: '?' }, /Invalid XDR: invalid `transaction_xdr`/],
    [{ transaction_xdr: ownGood, operations: [payment(to, 1n)] }, /Cannot provide both/],
    [{ transaction_xdr: inBase64(good) }, /Expected unsigned XDR but received signed XDR/],
    [{ transaction_xdr: ownGood, fee_bump: true }, /Cannot request fee_bump with unsigned XDR/],
    [{ transaction_xdr: ownGood, memo: { type: 'text', value: 'a' } }, /memo is only allowed with operations/],
    [{ transaction_xdr: ownGood, max_fee: 5 }, /max_fee is only allowed with fee_bump/],
    [{ transaction_xdr: ownGood, source_account: to.publicKey() }, /source_account G\w+ is not that of/],
    [{ transaction_xdr: inBase64(await signed(client, [pay(to, '1')], { signers: [] })) }, /does not match relayer/],
    [{ transaction_xdr: await own([]) }, /Transaction has no operations/],
    [{ transaction_xdr: await own([pay(to, '1')], past) }, /time bounds of transaction_xdr ended at 1000/],
    [{ transaction_xdr: await own([pay(to, '1')], numbered) }, /The relayer sets the sequence/],
    [
      { transaction_xdr: await own([pay(to, '1'), Operation.accountMerge({ destination: to.publicKey() })]) },
      /operations\.1: the relayer's account cannot be merged into another/,
    ],
    [
      {
        transaction_xdr: await own([Operation.setOptions({ signer: { ed25519PublicKey: to.publicKey(), weight: 1 } })]),
      },
      /operations\.0: the signers of the relayer's account cannot be changed through it/,
    ],
    [{ transaction_xdr: inBase64(good), fee_bump: true, max_fee: 0 }, /max_fee must be greater than 0/],
    [{ transaction_xdr: inBase64(good), fee_bump: true, max_fee: -1 }, /max_fee must be greater than 0/],
    [{ transaction_xdr: inBase64(good), fee_bump: true, max_fee: 2 ** 32 }, /invalid `max_fee`/],
    [{ transaction_xdr: inBase64(good), fee_bump: true, max_fee: '400' }, /invalid `max_fee`/],
    [
      { transaction_xdr: inBase64(good), fee_bump: true, max_fee: 199 },
      /max_fee \(199\) is insufficient\. Required fee-bump fee: 200/,
    ],
    [{ transaction_xdr: bump, fee_bump: true }, /a fee bump cannot be bumped again/],
    [
      { transaction_xdr: inBase64(await signed(relayer, [pay(to, '1')])), fee_bump: true },
      /cannot be the same as inner/,
    ],
    [
      { transaction_xdr: inBase64(await signed(client, [ofRelayer])), fee_bump: true },
      /operations\.0: it acts on .* has not signed it/,
    ],
    [{ transaction_xdr: inBase64(elsewhere), fee_bump: true }, /is wrong, or made for another network/],
    [{ operations: [payment(to, 1n)], fee_bump: true }, /Cannot request fee_bump with operations mode/],
  ];
  for (const [body, text] of cases) {
    t.match(await post(body), { status: 400, body: { success: false, error: text } }, text.source);
  }
});

t.test('the policy caps what a fee bump bids', async (t) => {
  const [client, to] = [await funded(), await funded()];
  const policies = { fee_payment_strategy: 'relayer', max_fee: 1_000 };
  t.equal((await ask('PATCH', '', { policies })).status, 200);
  const inner = inBase64(await signed(client, [pay(to, '1')]));
  t.match(await post({ transaction_xdr: inner, fee_bump: true, max_fee: 1_001 }), {
    status: 400,
    body: { error: /Max fee exceeded: 1000/ },
  });
  const id = await submit({ transaction_xdr: inner, fee_bump: true });
  t.equal((await until(id, ({ status }) => status === 'submitted')).fee, 1_000);
  await tickUntil(id, 'confirmed');
});
