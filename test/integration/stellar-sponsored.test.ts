/** Users pay a Stellar relayer's fees in a token: from the quote to the ledger. */
import { Asset, type Keypair, Operation, Transaction } from '@stellar/stellar-sdk';
import t from 'tap';
import { openMarket } from '../support/stellar-market.ts';
import { LUMEN } from '../support/stellar-scene.ts';
import { FEE_LEDGERS, stellarStage } from '../support/stellar-stage.ts';

// A quote depends on the time between ledgers. This sets it to that of the public network.
const settings = async () => ({ average_blocktime_ms: 5_000 });
const stage = await stellarStage(t, { fee_payment_strategy: 'user' }, {}, settings);
const { net, relayer, ask, submit, post, tickUntil, funded, land, balanceOf } = stage;
const signed: typeof stage.signed = async (source, operations, how = {}) => {
  const { closeTime } = (await net.rpc('getLatestLedger')) as { closeTime: string };
  const end = Number(closeTime) + 100;
  return stage.signed(source, operations, { with: (builder) => builder.setTimebounds(0, end), ...how });
};

const market = await openMarket(stage, 'USD', '1000', '1000');
const { asset, issuer, holders } = market;
const [maker, user] = holders as [Keypair, Keypair];
const USD = `USD:${issuer.publicKey()}`;
// An offer of 500 tokens for lumens, at two lumens a token.
await land(
  await signed(maker, [Operation.manageSellOffer({ selling: asset, buying: Asset.native(), amount: '500', price: 2 })]),
);
await land(await signed(relayer, [Operation.changeTrust({ asset })]));

const pay = (to: Keypair, amount: string, of = Asset.native()) =>
  Operation.payment({ destination: to.publicKey(), amount, asset: of });
const draft = async (...operations: ReturnType<typeof pay>[]) =>
  (await signed(user, operations, { signers: [] })).toXdr();
const quote = (body: object) => ask('POST', '/transactions/sponsored/quote', body);
const build = (body: object) => ask('POST', '/transactions/sponsored/build', body);
const policy = async (policies: object) => {
  const others = { fee_payment_strategy: 'user', allowed_tokens: null, max_fee: null, fee_margin_percentage: null };
  const { status, body } = await ask('PATCH', '', { policies: { ...others, ...policies } });
  if (status !== 200) throw new Error(JSON.stringify(body));
};
const held = async (who: Keypair) => (await stage.server.getTrustline(who.publicKey(), asset)).balance;

t.test('a quote, what is built by it, and what lands', async (t) => {
  const to = await funded();
  const body = { transaction_xdr: await draft(pay(to, '1')), fee_token: USD };
  t.match((await quote(body)).body.data, { fee_in_token: '150', fee_in_token_ui: '0.000015', conversion_rate: '0.5' });
  const { data } = (await build(body)).body;
  t.match(data, { fee_in_stroops: '300', fee_in_token: '150', fee_token: USD, valid_until: /^\d{4}-/ });
  const built = new Transaction(data.transaction, net.passphrase);
  t.match(built, { fee: '200', operations: { length: 2 }, signatures: { length: 0 } });
  built.sign(user);
  const before = await balanceOf(relayer.publicKey());
  const id = await submit({ transaction_xdr: built.toXdr(), fee_bump: true });
  const confirmed = await tickUntil(id, 'confirmed');
  t.equal(confirmed.fee, 300);
  t.equal(before - (await balanceOf(relayer.publicKey())), 300n);
  t.equal(await held(relayer), 150n);
  t.equal(await balanceOf(to.publicKey()), 101n * LUMEN);
});

t.test('operations of an account are quoted as well, and fees can be lumens', async (t) => {
  await net.tick(FEE_LEDGERS);
  const to = await funded();
  const operations = [{ type: 'payment', destination: to.publicKey(), amount: '5', asset: { type: 'native' } }];
  const body = { operations, source_account: user.publicKey(), fee_token: 'XLM' };
  t.match((await quote(body)).body.data, { fee_in_token: '300', fee_in_token_ui: '0.00003', conversion_rate: '1' });
  const { data } = (await build(body)).body;
  const built = new Transaction(data.transaction, net.passphrase);
  built.sign(user);
  await tickUntil(await submit({ transaction_xdr: built.toXdr(), fee_bump: true }), 'confirmed');
});

t.test('the relayer bids no more than it is paid for', async (t) => {
  await net.tick(FEE_LEDGERS);
  const to = await funded();
  const inner = await signed(user, [pay(to, '1'), pay(relayer, '0.000015', asset)]);
  const id = await submit({ transaction_xdr: inner.toXdr(), fee_bump: true, max_fee: 1_000_000 });
  t.equal((await stage.until(id, ({ status }) => status === 'submitted')).fee, 300);
  await tickUntil(id, 'confirmed');
});

t.test('what is not paid for is not sent', async (t) => {
  await net.tick(FEE_LEDGERS);
  const to = await funded();
  const [short, fair] = ['0.0000148', '0.0000149'];
  const asked = async (...operations: Parameters<typeof signed>[1][number][]) => ({
    transaction_xdr: (await signed(user, operations)).toXdr(),
    fee_bump: true,
  });
  const poor = await funded();
  const cases: [object, RegExp][] = [
    [await asked(pay(to, '1')), /Exactly one payment to the relayer is needed, and there are 0/],
    [await asked(pay(relayer, fair, asset), pay(relayer, fair, asset)), /there are 2/],
    [
      await asked(pay(to, '1'), pay(relayer, short, asset)),
      /Insufficient fee payment: 148 of USD:G\w+ is paid, and 150/,
    ],
    [await asked(pay(relayer, '2000', asset)), /Insufficient balance: user has 99\d\.\d+ USD/],
    [
      { ...(await asked()), transaction_xdr: (await signed(poor, [pay(relayer, fair, asset)])).toXdr() },
      /Insufficient balance: user has 0 USD/,
    ],
    [
      await asked(Operation.setOptions({ homeDomain: 'a' }), pay(relayer, fair, asset)),
      /Failed to validate gasless transaction: operations\.0: SetOptions is not allowed/,
    ],
    [{ operations: [{ type: 'payment' }] }, /./],
  ];
  for (const [body, text] of cases) t.match(await post(body), { status: 400, body: { error: text } }, text.source);
  const other = await openMarket(stage, 'EUR', '10');
  await policy({ allowed_tokens: [{ asset: USD, max_allowed_fee: '160' }] });
  const eur = await asked(pay(relayer, '1', other.asset));
  t.match(await post(eur), { status: 400, body: { error: /Token EUR:\w+ is not allowed for fees/ } });
  const dear = await asked(pay(relayer, '0.0000161', asset));
  t.match(await post(dear), { status: 400, body: { error: /Max fee exceeded: 160/ } });
  t.match(await post(await asked(pay(to, '1'), pay(relayer, fair, asset))), { status: 200 }, 'within the slippage');
  await net.tick();
  await policy({});
});

t.test('a quote refuses what would be refused later', async (t) => {
  await net.tick(FEE_LEDGERS);
  const to = await funded();
  const good = await draft(pay(to, '1'));
  const operations = [{ type: 'payment', destination: to.publicKey(), amount: '5', asset: { type: 'native' } }];
  const nobody = `NOP:${issuer.publicKey()}`;
  const cases: [object, RegExp][] = [
    [{ fee_token: USD }, /Must provide either transaction_xdr or operations/],
    [{ fee_token: USD, transaction_xdr: good, operations }, /Cannot provide both transaction_xdr and operations/],
    [{ fee_token: USD, operations }, /source_account is required when providing operations/],
    [{ fee_token: 'USD', transaction_xdr: good }, /Invalid fee_token structure: Invalid asset identifier/],
    [{ fee_token: USD, transaction_xdr: 'AAAA' }, /Invalid XDR/],
    [{ fee_token: nobody, transaction_xdr: good }, /No path found for conversion/],
    [{ fee_token: USD, transaction_xdr: good, fees: 1 }, /unknown field/],
    [
      { fee_token: USD, transaction_xdr: (await signed(relayer, [pay(to, '1')])).toXdr() },
      /Failed to validate gasless transaction: Source account is the relayer's own/,
    ],
  ];
  for (const [body, text] of cases) {
    t.match(await quote(body), { status: 400, body: { error: text } }, text.source);
    t.match(await build(body), { status: 400, body: { error: text } }, text.source);
  }
  await policy({ fee_margin_percentage: 50, max_fee: 449 });
  t.match(await quote({ fee_token: USD, transaction_xdr: good }), {
    status: 400,
    body: { error: /Max fee exceeded: 449/ },
  });
  await policy({ fee_margin_percentage: 50 });
  t.match((await quote({ fee_token: USD, transaction_xdr: good })).body.data, { fee_in_token: '225' });
  await policy({});
  await net.fault({ methods: ['horizon.strictSend'], act: { kind: 'http', status: 503 } });
  const { status } = await quote({ fee_token: USD, transaction_xdr: good });
  t.ok(status >= 500, `${status}`);
  await net.clearFaults();
});

t.test('the relayer comes to hold what its users pay in, and nothing else', async (t) => {
  const { asset: eur, issuer: maker } = await openMarket(stage, 'EUR', '10');
  await policy({ allowed_tokens: [{ asset: USD }, { asset: `EUR:${maker.publicKey()}` }] });
  const trusting = async (of: Asset) => ({
    transaction_xdr: (await signed(relayer, [Operation.changeTrust({ asset: of })], { signers: [] })).toXdr(),
  });
  await tickUntil(await submit(await trusting(eur)), 'confirmed');
  t.equal((await stage.server.getTrustline(relayer.publicKey(), eur)).balance, 0n);
  const cases: [Asset, RegExp][] = [
    [eur, /The relayer has a trust line for EUR:G\w+ already/],
    [new Asset('GBP', maker.publicKey()), /not supported via unsigned_xdr path/],
  ];
  for (const [of, text] of cases) t.match(await post(await trusting(of)), { status: 400, body: { error: text } });
  await policy({});
});
