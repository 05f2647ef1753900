/** A Stellar relayer signs transactions that somebody else sends. */
import { Asset, type Keypair, Operation, Transaction, type xdr } from '@stellar/stellar-sdk';
import t from 'tap';
import { type How, LUMEN } from '../support/stellar-scene.ts';
import { stellarStage } from '../support/stellar-stage.ts';

const stage = await stellarStage(t);
const { net, relayer, ask, funded, signed, bumped, send, sequenceOf } = stage;

const pay = (to: Keypair, amount: string, source?: Keypair) =>
  Operation.payment({
    destination: to.publicKey(),
    amount,
    asset: Asset.native(),
    ...(source === undefined ? {} : { source: source.publicKey() }),
  });

const sign = (transaction: { toXdr(): string }) =>
  ask('POST', '/sign-transaction', { unsigned_xdr: transaction.toXdr() });

const policy = async (policies: object) => {
  const others = { fee_payment_strategy: 'relayer', max_fee: null, timeout_seconds: null, min_balance: null };
  const { status } = await ask('PATCH', '', { policies: { ...others, ...policies } });
  if (status !== 200) throw new Error(`not patched: ${status}`);
};

t.test('an own transaction is signed for whoever sends it', async (t) => {
  const to = await funded();
  const draft = await signed(relayer, [pay(to, '1')], { signers: [] });
  const { status, body } = await sign(draft);
  t.equal(status, 200);
  t.strictSame(Object.keys(body.data), ['signedXdr', 'signature']);
  const back = new Transaction(body.data.signedXdr, net.passphrase);
  t.equal(Buffer.from(back.hash()).toString('hex'), Buffer.from(draft.hash()).toString('hex'));
  t.ok(relayer.verify(back.hash(), Buffer.from(body.data.signature, 'base64')));
  t.match((await sign(back)).body.data, { signedXdr: body.data.signedXdr }, 'and not twice');
  t.equal(await send(back), 'PENDING');
  await net.tick();
});

t.test('signatures of others are kept', async (t) => {
  const [client, to] = [await funded(), await funded()];
  const weights = { masterWeight: 1, lowThreshold: 2, medThreshold: 2, highThreshold: 2 };
  const signer = { ed25519PublicKey: relayer.publicKey(), weight: 1 };
  t.equal(await send(await signed(client, [Operation.setOptions({ ...weights, signer })])), 'PENDING');
  await net.tick();
  const draft = await signed(client, [pay(to, '1')]);
  t.equal(await send(draft), 'txBadAuth', 'one of two is not enough');
  const { body } = await sign(draft);
  const both = new Transaction(body.data.signedXdr, net.passphrase);
  t.equal(both.signatures.length, 2);
  t.equal(await send(both), 'PENDING');
  await net.tick();
});

t.test('nothing is signed that its policies do not allow', async (t) => {
  const [client, to] = [await funded(), await funded()];
  const own = (operations: xdr.Operation[], how: How = {}) => signed(relayer, operations, { signers: [], ...how });
  const bare = (operations: xdr.Operation[], how: How = {}) => signed(client, operations, { signers: [], ...how });
  const used = { sequence: await sequenceOf(client.publicKey()) };
  const cases: [{ toXdr(): string }, RegExp][] = [
    [{ toXdr: () => 'AAAA' }, /Invalid XDR: invalid `unsigned_xdr`/],
    [bumped(await signed(client, [pay(to, '1')]), relayer, 400n), /sent with fee_bump, not signed here/],
    [await own([]), /invalid `unsigned_xdr`: Transaction has no operations/],
    [
      await bare([pay(to, '1'), Operation.accountMerge({ destination: to.publicKey(), source: relayer.publicKey() })]),
      /operations\.1: the relayer's account cannot be merged into another/,
    ],
    [await bare([pay(to, '100', relayer)]), /Insufficient balance/],
    [await bare([pay(to, '1')], used), /Sequence \d+ of G\w+ is used/],
    [await own([Operation.accountMerge({ destination: to.publicKey() })]), /cannot be merged into another/],
    [await own([Operation.setOptions({ masterWeight: 0 })]), /the signers of the relayer's account cannot/],
    [await own([pay(to, '100')]), /Insufficient balance/],
    [await own([pay(to, '1')], { with: (one) => one.setTimebounds(0, 1_000) }), /time bounds ended at 1000/],
  ];
  for (const [transaction, text] of cases) {
    t.match(await sign(transaction), { status: 400, body: { success: false, error: text } }, text.source);
  }
  await policy({ max_fee: 150 });
  t.match(await sign(await own([pay(to, '1')], { fee: '151' })), {
    status: 400,
    body: { error: /Max fee exceeded: 150/ },
  });
  await policy({ timeout_seconds: 60 });
  const within = /must end within 60 s/;
  t.match(await sign(await own([pay(to, '1')])), { status: 400, body: { error: within } });
  t.match(await sign(await own([pay(to, '1')], { with: (one) => one.setTimeout(0) })), {
    status: 400,
    body: { error: within },
  });
  await policy({ min_balance: String(99n * LUMEN) });
  t.match(await sign(await own([pay(to, '1')])), { status: 400, body: { error: /Stays: 990000000/ } });
  await policy({});
});

t.test('the pattern of channel accounts: their sequence, the relayer’s payment, and a fee bump', async (t) => {
  const [channel, to] = [await funded(), await funded()];
  const draft = await signed(channel, [pay(to, '3', relayer)], { signers: [] });
  const { body } = await sign(draft);
  draft.addSignature(relayer.publicKey(), body.data.signature);
  draft.sign(channel);
  const before = await stage.balanceOf(relayer.publicKey());
  const id = await stage.submit({ transaction_xdr: draft.toXdr(), fee_bump: true, max_fee: 1_000 });
  t.match(await stage.tickUntil(id, 'confirmed'), { fee: 200 });
  t.equal(before - (await stage.balanceOf(relayer.publicKey())), 3n * LUMEN + 200n);
  t.equal(await stage.balanceOf(to.publicKey()), 103n * LUMEN);
});

t.test('a fee bump around the relayer’s own payment has to bear its signature, and be within its means', async (t) => {
  const [channel, to] = [await funded(), await funded()];
  const bump = async (transaction: Transaction) =>
    stage.post({ transaction_xdr: transaction.toXdr(), fee_bump: true, max_fee: 1_000 });
  const unsigned = await signed(channel, [pay(to, '1', relayer)]);
  t.match(await bump(unsigned), { status: 400, body: { error: /operations\.0: it acts on .* has not signed it/ } });
  // The key of the relayer is used elsewhere too.
  const tooMuch = await signed(channel, [pay(to, '1000', relayer)], { signers: [channel, relayer] });
  const { body } = await bump(tooMuch);
  t.match(await stage.until(body.data.id, ({ status_reason: reason }) => /Insufficient balance/.test(reason)), {
    status: 'pending',
  });
  t.equal((await ask('DELETE', `/transactions/${body.data.id}`)).status, 200);
  await stage.until(body.data.id, ({ status }) => status === 'canceled');
  const setOptions = Operation.setOptions({ masterWeight: 0, source: relayer.publicKey() });
  t.match(await bump(await signed(channel, [setOptions], { signers: [channel, relayer] })), {
    ...{ status: 400, body: { error: /the signers of the relayer's account cannot/ } },
  });
});

t.test('own_funds: deny keeps what the account holds, on every path', async (t) => {
  const [channel, to] = [await funded(), await funded()];
  await policy({ own_funds: 'deny' });
  t.match((await ask('GET', '')).body.data.policies, { own_funds: 'deny' });
  const fault = /operations\.0: it moves what the relayer's account G\w+ holds, and the policy own_funds denies that/;
  const refused = { status: 400, body: { error: fault } };
  const payment = { type: 'payment', destination: to.publicKey(), amount: '1', asset: { type: 'native' } };
  t.match(await stage.post({ operations: [payment] }), refused);
  const own = await signed(relayer, [pay(to, '1')], { signers: [] });
  t.match(await stage.post({ transaction_xdr: own.toXdr() }), refused);
  t.match(await sign(own), refused);
  t.match(await sign(await signed(channel, [pay(to, '1', relayer)], { signers: [] })), refused);
  const both = await signed(channel, [pay(to, '1', relayer)], { signers: [channel, relayer] });
  t.match(await stage.post({ transaction_xdr: both.toXdr(), fee_bump: true }), refused);
  const wasm = { type: 'hex', hex: '0061736d01000000' };
  const upload = { type: 'upload_wasm', wasm, auth: { type: 'source_account' } };
  t.match(await stage.post({ operations: [upload] }), { status: 200 }, 'it still pays fees');
  const others = await signed(channel, [pay(to, '1')]);
  await stage.tickUntil(await stage.submit({ transaction_xdr: others.toXdr(), fee_bump: true }), 'confirmed');
  await policy({ own_funds: null });
});

t.test('where users pay the fees, nothing of the relayer is signed away', async (t) => {
  const [client, to] = [await funded(), await funded()];
  await policy({ fee_payment_strategy: 'user' });
  const soon: How = { with: (one) => one.setTimeout(60), signers: [] };
  const draft = async (operations: xdr.Operation[], how: How = soon, source = client) =>
    signed(source, operations, how);
  const destination = to.publicKey();
  const cases: [Transaction, RegExp][] = [
    [await draft([pay(to, '1')], soon, relayer), /Source account is the relayer's own/],
    [await draft([pay(to, '1', relayer)]), /acts on the relayer's own account/],
    [await draft([Operation.accountMerge({ destination })]), /operations\.0: AccountMerge is not allowed/],
    [await draft([Operation.setOptions({ homeDomain: 'a' })]), /SetOptions is not allowed/],
    [await draft([Operation.createAccount({ destination, startingBalance: '1' })]), /Deprecated .*: CreateAccount/],
    [await draft([Operation.uploadContractWasm({ wasm: Buffer.alloc(8) })]), /only InvokeContract is allowed/],
    [await draft([pay(to, '1')], { signers: [] }), /must end within 120 s/],
  ];
  for (const [transaction, text] of cases) {
    t.match(await sign(transaction), { status: 400, body: { error: text } }, text.source);
  }
  t.match(await sign(await draft([pay(to, '1')])), { status: 200 });
  await policy({});
});
