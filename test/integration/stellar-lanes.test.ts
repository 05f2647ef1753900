/**
 * The order of an account's transactions holds when fees rise, when one is canceled, and when others use the sequence.
 */
import { Asset, type Keypair, Operation } from '@stellar/stellar-sdk';
import t from 'tap';
import { LUMEN } from '../support/stellar-scene.ts';
import { payment, stellarStage } from '../support/stellar-stage.ts';

const stage = await stellarStage(t);
const { net, relayer, submit, ask, until, tickUntil, funded, signed, land, balanceOf, sequenceOf } = stage;

const cancel = (id: string) => ask('DELETE', `/transactions/${id}`);
const pay = (to: Keypair, amount: string) =>
  Operation.payment({ destination: to.publicKey(), amount, asset: Asset.native() });
const fromRelayer = async () => (await net.landed()).filter(({ source }) => source === relayer.publicKey());

t.test('a surge is outbid within the cap, and one transaction lands', async (t) => {
  const to = await funded();
  await net.crowd(2_000, 350n);
  const id = await submit({ operations: [payment(to, LUMEN)] });
  const sent = await until(id, ({ fee, status }) => status === 'submitted' && fee > 350);
  await net.crowd(0);
  const confirmed = await tickUntil(id, 'confirmed');
  t.equal(confirmed.sequence_number, sent.sequence_number);
  t.equal(await balanceOf(to.publicKey()), 101n * LUMEN);
});

t.test('a cap is not outbid: it waits until the surge is over', async (t) => {
  const to = await funded();
  const policies = { fee_payment_strategy: 'relayer', max_fee: 300 };
  t.equal((await ask('PATCH', '', { policies })).status, 200);
  await net.crowd(2_000, 500n);
  const id = await submit({ operations: [payment(to, LUMEN)] });
  await until(id, ({ fee, status_reason: reason }) => fee === 300 && /InsufficientFee/.test(reason));
  await net.crowd(0);
  const { fee } = await tickUntil(id, 'confirmed');
  t.ok(fee <= 300);
  t.equal((await ask('PATCH', '', { policies: { ...policies, max_fee: null } })).status, 200);
});

t.test('what is canceled on its way is taken back by nothing in its place', async (t) => {
  const to = await funded();
  await net.dropNext(1);
  const id = await submit({ operations: [payment(to, LUMEN)] });
  const sent = await until(id, ({ status }) => status === 'submitted');
  t.equal((await cancel(id)).status, 200);
  const canceled = await tickUntil(id, 'canceled');
  t.not(canceled.hash, sent.hash);
  t.match((await fromRelayer()).at(-1), { hash: canceled.hash, sequence: BigInt(sent.sequence_number) });
  t.equal(await balanceOf(to.publicKey()), 100n * LUMEN);
  const next = await submit({ operations: [payment(to, LUMEN)] });
  await tickUntil(next, 'confirmed');
});

t.test('nothing replaces a transaction', async (t) => {
  const to = await funded();
  const id = await submit({ operations: [payment(to, LUMEN)] });
  await until(id, ({ status }) => status === 'submitted');
  const path = `/transactions/${id}`;
  const body = { network: 'testnet', operations: [payment(to, 2n * LUMEN)] };
  t.match(await ask('PUT', path, body), { status: 400, body: { error: /Replacing is not supported for stellar/ } });
  await tickUntil(id, 'confirmed');
});

t.test('a sequence that leapt ahead is followed', async (t) => {
  const to = await funded();
  const bumpTo = (await sequenceOf(relayer.publicKey())) + 5_000n;
  await land(await signed(relayer, [Operation.bumpSequence({ bumpTo: String(bumpTo) })]));
  const id = await submit({ operations: [payment(to, LUMEN)] });
  t.equal((await tickUntil(id, 'confirmed')).sequence_number, String(bumpTo + 1n));
});

t.test('an account that was ended and made again goes on, with the sequences of its new life', async (t) => {
  const to = await funded();
  const before = await sequenceOf(relayer.publicKey());
  await land(await signed(relayer, [Operation.accountMerge({ destination: to.publicKey() })]));
  const id = await submit({ operations: [payment(to, LUMEN)] });
  await until(id, ({ status_reason: reason }) => /does not exist/.test(reason ?? ''));
  const destination = relayer.publicKey();
  await land(await signed(to, [Operation.createAccount({ destination, startingBalance: '50' })]));
  const made = await sequenceOf(destination);
  t.ok(made > before + 2n ** 32n);
  t.equal((await tickUntil(id, 'confirmed')).sequence_number, String(made + 1n));
});

t.test('a canceled fee bump is offered no more, and ends when its time has passed', async (t) => {
  const [client, to] = [await funded(), await funded()];
  await net.dropNext(1);
  const { closeTime } = (await net.rpc('getLatestLedger')) as { closeTime: string };
  const end = Number(closeTime) + 300;
  const inner = await signed(client, [pay(to, '1')], { with: (builder) => builder.setTimebounds(0, end) });
  const id = await submit({ transaction_xdr: inner.toXdr(), fee_bump: true });
  const { hash } = await until(id, ({ status }) => status === 'submitted');
  t.equal((await cancel(id)).status, 200);
  const before = (await net.offers()).filter((one) => one === hash).length;
  t.match(await until(id, ({ status_reason: reason }) => reason !== null), { status_reason: /not offered any more/ });
  await net.travel(400);
  await tickUntil(id, 'canceled');
  t.equal((await net.offers()).filter((one) => one === hash).length, before);
  t.equal(await balanceOf(to.publicKey()), 100n * LUMEN);
});
