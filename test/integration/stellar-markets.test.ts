/**
 * The promise: the Horizon of the tests' Stellar lists the offers of its exchange, and finds paths through them. A path
 * payment then gets the quoted price. Stellar's public client drives it.
 */
import { Asset, Horizon, type Keypair, Operation } from '@stellar/stellar-sdk';
import t from 'tap';
import { openMarket } from '../support/stellar-market.ts';
import { codeOf, startStellarScene } from '../support/stellar-scene.ts';

const scene = await startStellarScene();
t.teardown(() => scene.net.stop());
const { net, server, funded, signed, land } = scene;
const horizon = new Horizon.Server(net.horizonUrl, { allowHttp: true });
const native = Asset.native();

const done = async (source: Keypair, ...operations: Parameters<typeof signed>[1]) =>
  codeOf(await land(await signed(source, operations)));

async function get(path: string): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(`${net.horizonUrl}${path}`);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

t.test('before anybody offers anything, there is nothing to search', async (t) => {
  const answer = await get('/paths/strict-send?source_asset_type=native&source_amount=1&destination_assets=native');
  t.match(answer, { status: 503, body: { type: 'https://stellar.org/horizon-errors/still_ingesting' } });
});

// Horizon: GET /order_book.
t.test('the order book sums up the offers of a price', async (t) => {
  const { asset: usd, holders } = await openMarket(scene, 'USD', '100', '100');
  const [one, other] = holders as [Keypair, Keypair];
  const sell = (amount: string, price: string | { n: number; d: number }) =>
    Operation.manageSellOffer({ selling: usd, buying: native, amount, price });
  t.equal(await done(one, sell('10', '0.5'), sell('6', { n: 1, d: 3 })), 'txSuccess');
  t.equal(await done(other, sell('20', { n: 2, d: 4 })), 'txSuccess');
  t.equal(
    await done(other, Operation.manageSellOffer({ selling: native, buying: usd, amount: '4', price: '8' })),
    'txSuccess',
  );
  const book = await horizon.orderbook(usd, native).call();
  t.match(book, {
    base: { asset_type: 'credit_alphanum4', asset_code: 'USD' },
    counter: { asset_type: 'native' },
    asks: [
      { price_r: { n: 1, d: 3 }, price: '0.3333333', amount: '6.0000000' },
      { price_r: { n: 1, d: 2 }, price: '0.5000000', amount: '30.0000000' },
    ],
    bids: [{ price_r: { n: 1, d: 8 }, price: '0.1250000', amount: '4.0000000' }],
  });
  t.match(await horizon.orderbook(native, usd).limit(1).call(), {
    asks: [{ price_r: { n: 8, d: 1 }, amount: '4.0000000' }],
    bids: [{ price_r: { n: 3, d: 1 }, amount: '6.0000000' }],
  });
  t.match(await get('/order_book?selling_asset_type=native'), {
    status: 400,
    body: { type: 'https://stellar.org/horizon-errors/invalid_order_book' },
  });
});

// Horizon: GET /paths/strict-send and GET /paths/strict-receive; CAP-24.
t.test('ways are found through several markets, and paid as they were told', async (t) => {
  const [eur, gbp] = [await openMarket(scene, 'EUR', '1000'), await openMarket(scene, 'STERLING', '1000')];
  const [dealer] = eur.holders as [Keypair];
  const [maker] = gbp.holders as [Keypair];
  await done(maker, Operation.changeTrust({ asset: eur.asset }));
  const offer = (selling: Asset, buying: Asset, amount: string, price: string) =>
    Operation.manageSellOffer({ selling, buying, amount, price });
  // A lumen is worth 1/4 of a euro, and a euro 2/3 of a pound. Sold directly, a lumen brings 1/10 of a pound.
  t.equal(await done(dealer, offer(eur.asset, native, '300', '4')), 'txSuccess');
  t.equal(
    await done(maker, offer(gbp.asset, eur.asset, '200', '1.5'), offer(gbp.asset, native, '50', '10')),
    'txSuccess',
  );
  const { records } = await horizon.strictSendPaths(native, '30', [gbp.asset]).call();
  t.match(records, [
    {
      source_asset_type: 'native',
      source_amount: '30.0000000',
      destination_asset_type: 'credit_alphanum12',
      destination_asset_code: 'STERLING',
      destination_amount: '5.0000000',
      path: [{ asset_type: 'credit_alphanum4', asset_code: 'EUR', asset_issuer: eur.issuer.publicKey() }],
    },
    { destination_amount: '3.0000000', path: [] },
  ]);
  const buyer = await funded();
  await done(buyer, Operation.changeTrust({ asset: gbp.asset }));
  const toOwn = (destMin: string) =>
    Operation.pathPaymentStrictSend({
      sendAsset: native,
      sendAmount: '30',
      destination: buyer.publicKey(),
      destAsset: gbp.asset,
      destMin,
      path: [eur.asset],
    });
  t.equal(await done(buyer, toOwn('5.0000001')), 'txFailed pathPaymentStrictSendUnderDestmin');
  t.equal(await done(buyer, toOwn('5')), 'txSuccess');
  t.equal((await server.getTrustline(buyer.publicKey(), gbp.asset)).balance, 50_000_000n);

  const wanted = await horizon.strictReceivePaths([native], gbp.asset, '2.3').call();
  t.match(wanted.records, [
    { source_amount: '13.8000000', destination_amount: '2.3000000', path: [{ asset_code: 'EUR' }] },
    { source_amount: '23.0000000', path: [] },
  ]);
  const own = await horizon.strictReceivePaths(buyer.publicKey(), gbp.asset, '2.3').call();
  t.match(
    own.records.map(({ source_asset_type: type, source_amount: amount }) => [type, amount]),
    [
      ['credit_alphanum12', '2.3000000'],
      ['native', '13.8000000'],
      ['native', '23.0000000'],
    ],
    'the account’s own pounds are a way, too',
  );
  const dear = await horizon.strictReceivePaths(buyer.publicKey(), gbp.asset, '40').call();
  t.same(dear.records, [], 'it has not so much');
  const theirs = await horizon.strictSendPaths(native, '30', buyer.publicKey()).call();
  t.equal(theirs.records.length, 3, 'lumens themselves, and both ways to pounds');
  const none = await horizon.strictSendPaths(gbp.asset, '30', [eur.asset]).call();
  t.same(none.records, [], 'nobody buys pounds');
});

t.test('a search that asks for nothing, or for both, is refused', async (t) => {
  const account = (await funded()).publicKey();
  const send = (query: string) => get(`/paths/strict-send?source_asset_type=native&${query}`);
  t.match(await send('source_amount=1'), { status: 400, body: { detail: /either a list of destination assets/ } });
  const both = `source_amount=1&destination_assets=native&destination_account=${account}`;
  t.match(await send(both), { status: 400 });
  t.match(await send('source_amount=0&destination_assets=native'), {
    status: 400,
    body: { extras: { invalid_field: 'source_amount', reason: 'Amount must be positive' } },
  });
  t.match(await send('source_amount=1&destination_assets=USD'), {
    status: 400,
    body: { extras: { invalid_field: 'destination_assets', reason: 'USD is not a valid asset' } },
  });
  t.match(
    await get(`/paths/strict-send?source_asset_type=credit_alphanum4&source_amount=1&destination_assets=native`),
    {
      status: 400,
      body: { extras: { invalid_field: 'source_asset_code' } },
    },
  );
});
