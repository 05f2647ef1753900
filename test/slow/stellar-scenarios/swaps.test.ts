/** Collected assets become lumens, once, and never for less than the policies allow. */
import { Asset, type Keypair, Operation } from '@stellar/stellar-sdk';
import t, { type Test } from 'tap';
import type { JsonObject } from '../../../src/domain/json/json.ts';
import { InstanceLeases } from '../../support/instance-leases.ts';
import { openMarket } from '../../support/stellar-market.ts';
import { StellarScenario } from '../../support/stellar-scenario.ts';
import { LUMEN, startStellarScene } from '../../support/stellar-scene.ts';
import { minutes, notify, reasonOf, refusedSwap, swapEvents, swapsOf } from '../../support/swap-watch.ts';

const scene = await startStellarScene();
const { net, funded, signed, land } = scene;
t.teardown(() => net.stop());

const [issuer, maker] = [await funded(), await funded(10_000n * LUMEN)];
const usd = new Asset('USD', issuer.publicKey());
const USD = `USD:${issuer.publicKey()}`;
/** The maker gives two lumens for a dollar, for up to 4,000 dollars. */
await land(await signed(maker, [Operation.changeTrust({ asset: usd })]));
await land(
  await signed(maker, [
    Operation.manageSellOffer({ selling: Asset.native(), buying: usd, amount: '8000', price: '0.5' }),
  ]),
);

interface Set {
  /** The asset that the relayer has, and its issuer. The default is dollars. */
  asset?: Asset;
  issuer?: Keypair;
  timeout?: number;
  swap?: JsonObject;
  tokens?: JsonObject[];
  held?: string;
  stroops?: bigint;
}

/** A relayer with 100 dollars, which are worth 200 lumens. */
async function open(t: Test, set: Set = {}) {
  const { swap, tokens, asset = usd, issuer: from = issuer, timeout = 120, held = '100', stroops = 100n * LUMEN } = set;
  const keys = await funded(stroops);
  await land(await signed(keys, [Operation.changeTrust({ asset })]));
  await land(await signed(from, [Operation.payment({ destination: keys.publicKey(), asset, amount: held })]));
  const scenario = await StellarScenario.open(t, scene, {
    keys,
    stroops: null,
    policies: {
      fee_payment_strategy: 'user',
      timeout_seconds: timeout,
      allowed_tokens: tokens ?? [{ asset: `${asset.code}:${from.publicKey()}` }],
      swap_config: { strategies: ['order-book'], cron_schedule: '0 * * * * *', ...swap },
    },
  });
  await notify(scenario);
  return { scenario, keys, lumens: () => scene.balanceOf(keys.publicKey()) };
}

async function pay(keys: Keypair, amount: string): Promise<void> {
  await land(await signed(issuer, [Operation.payment({ destination: keys.publicKey(), asset: usd, amount })]));
}

/** In units of 10^-7 dollars. */
const dollars = (keys: Keypair) => held(keys, 'USD');

async function held(keys: Keypair, code: string): Promise<bigint> {
  const response = await fetch(`${net.horizonUrl}/accounts/${keys.publicKey()}`);
  const { balances } = (await response.json()) as { balances: { asset_code?: string; balance: string }[] };
  const line = balances.find(({ asset_code: one }) => one === code);
  return BigInt(line?.balance.replace('.', '') ?? '0');
}

t.test('what was collected becomes lumens by the clock', async (t) => {
  const { scenario, keys, lumens } = await open(t);
  const before = await lumens();
  await scenario.start();
  const [id = ''] = await minutes(scenario);
  await scenario.untilStatus(id, 'confirmed', { mining: true });
  t.equal(await dollars(keys), 0n);
  t.equal((await lumens()) - before, 200n * LUMEN - 100n);
  t.equal(await scenario.executions(id), 1);
  const told = { mint: USD, source_amount: 1_000_000_000, destination_amount: 2_000_000_000, error: null };
  t.match(await swapEvents(scenario, id), [
    ['stellar_dex_queued', [{ ...told, transaction_signature: /^[0-9a-f]{64}$/ }]],
    ['stellar_dex', [told]],
  ]);
});

t.test('whenever the process dies, a swap is executed once', async (t) => {
  for (const step of ['found', 'written', 'offered', 'observed'] as const) {
    const { scenario, keys, lumens } = await open(t);
    const before = await lumens();
    await scenario.start({ diesAt: step });
    await minutes(scenario);
    await scenario.until(`dead at ${step}`, () => scenario.isDead);
    // More dollars arrive meanwhile. The executed swap must not be repeated for them.
    await pay(keys, '50');
    await scenario.start();
    const [id = '', ...others] = (await swapsOf(scenario)).map((one) => one.id);
    await scenario.untilStatus(id, 'confirmed', { mining: true });
    t.equal(others.length, 0, step);
    t.equal(await scenario.executions(id), 1, step);
    const left = await dollars(keys);
    t.equal((await lumens()) - before, 300n * LUMEN - 2n * left - 100n, step);
    await scenario.stop();
  }
});

t.test('one that nodes have lost is made anew only when it can be in no ledger any more', async (t) => {
  const { scenario, keys } = await open(t, { timeout: 30 });
  await net.dropNext(1_000);
  t.teardown(() => net.dropNext(0));
  await scenario.start();
  const [id = ''] = await minutes(scenario);
  await scenario.untilStatus(id, 'submitted');
  const [first] = await scenario.attempts(id);
  await net.tick(3);
  t.equal((await scenario.attempts(id)).length, 1, 'while it can land it is the only one');
  await net.dropNext(0);
  await net.travel(60);
  await scenario.untilStatus(id, 'confirmed', { mining: true });
  t.equal((await net.landed()).filter(({ hash }) => hash === first?.hash).length, 0);
  t.equal(await scenario.executions(id), 1);
  t.equal(await dollars(keys), 0n);
  t.equal((await swapsOf(scenario)).length, 1);
});

t.test('each asset is swapped within its own bounds, and others are passed over', async (t) => {
  const bounds = { min_amount: 100, max_amount: 600_000_000, retain_min_amount: 300_000_000, slippage_percentage: 0.5 };
  const other = await funded();
  const tokens = [{ asset: 'native' }, { asset: `EUR:${other.publicKey()}` }, { asset: USD, swap_config: bounds }];
  const { scenario, keys } = await open(t, { tokens });
  await scenario.start();
  const [id = ''] = await minutes(scenario);
  await scenario.untilStatus(id, 'confirmed', { mining: true });
  t.equal(await dollars(keys), 400_000_000n);
  t.match((await scenario.get(id)).fields, {
    swap: { given: 600_000_000, promised: 1_200_000_000, least: 1_194_000_000 },
  });
  const [again = ''] = await minutes(scenario, 2);
  await scenario.untilStatus(again, 'confirmed', { mining: true });
  t.equal(await dollars(keys), 300_000_000n, 'what is to stay stays');
  scenario.pass(60_000);
  scenario.pass(60_000);
  t.equal((await swapsOf(scenario)).length, 2);
});

t.test('a low balance is enough, and one moment starts one swap, however many instances look', async (t) => {
  const swap = { cron_schedule: null, min_balance_threshold: 50_000_000 };
  const { scenario, keys, lumens } = await open(t, { swap, stroops: 40_000_000n });
  const instances = new InstanceLeases(60_000);
  for (let more = 0; more < 3; more += 1) await scenario.start({ store: instances.storeFor(scenario.store) });
  await scenario.until('a swap', async () => (await swapsOf(scenario)).length > 0);
  const [{ id } = { id: '' }, ...others] = await swapsOf(scenario);
  t.equal(others.length, 0);
  await scenario.untilStatus(id, 'confirmed', { mining: true });
  t.equal(await scenario.executions(id), 1);
  t.equal(await dollars(keys), 0n);
  t.ok((await lumens()) > 50_000_000n);
});

t.test('the ledger gives no less than the slippage allows, and then the swap has failed', async (t) => {
  const { asset, issuer, holders } = await openMarket(scene, 'EUR', '0');
  const [seller] = holders as [Keypair];
  const sells = (amount: string, price: string) =>
    Operation.manageSellOffer({ selling: Asset.native(), buying: asset, amount, price });
  await net.fund(seller.publicKey(), 1_000n * LUMEN);
  await land(await signed(seller, [sells('200', '0.5')]));
  const { scenario, keys } = await open(t, { asset, issuer });
  const before = await scene.balanceOf(keys.publicKey());
  await scenario.start();
  await net.landLater(4);
  t.teardown(() => net.landLater(0));
  const [id = ''] = await minutes(scenario);
  await scenario.untilStatus(id, 'submitted');
  await net.landLater(0);
  // Somebody else trades first. The rest of the good offer and the next offer give too little.
  const [sendAsset, destAsset, destination] = [asset, Asset.native(), issuer.publicKey()];
  const taken = { sendAsset, sendAmount: '10', destination, destAsset, destMin: '1', path: [] };
  await land(await signed(issuer, [Operation.pathPaymentStrictSend(taken)]));
  await land(await signed(seller, [sells('100', '1')]));
  await scenario.untilStatus(id, 'failed', { mining: true });
  t.match(await reasonOf(scenario, id), /UnderDestMin|underDestmin|under/i);
  t.equal(await held(keys, 'EUR'), 100n * LUMEN);
  t.equal(before - (await scene.balanceOf(keys.publicKey())), 100n, 'the fee');
  const failure = { source_amount: 1_000_000_000, destination_amount: 0, error: /./ };
  t.match(await swapEvents(scenario, id), [
    ['stellar_dex_queued', [{ error: null }]],
    ['stellar_dex', [failure]],
  ]);
});

t.test('a price service that lies leads nothing away', async (t) => {
  const evil = await openMarket(scene, 'EVIL', '1000000', '0');
  const [thief] = evil.holders as [Keypair];
  const gone = new Asset('EVIL', evil.issuer.publicKey());
  await land(await signed(thief, [Operation.changeTrust({ asset: usd })]));
  // A path through a worthless asset: its maker sells it for dollars, and buys it back for almost nothing.
  await land(
    await signed(thief, [
      Operation.manageSellOffer({ selling: gone, buying: usd, amount: '1000', price: '0.1' }),
      Operation.manageSellOffer({ selling: Asset.native(), buying: gone, amount: '1', price: '1000' }),
    ]),
  );
  const evilHop = { asset_type: 'credit_alphanum4', asset_code: 'EVIL', asset_issuer: evil.issuer.publicKey() };
  const record = (amount: string, path: object[]) => ({
    source_asset_type: 'credit_alphanum4',
    source_asset_code: 'USD',
    source_asset_issuer: issuer.publicKey(),
    source_amount: '100.0000000',
    destination_asset_type: 'native',
    destination_amount: amount,
    path,
  });
  const lies: [string, object, RegExp][] = [
    ['a way over an asset of its own', { records: [record('0.0000001', [evilHop])] }, /^No swap: No path found/],
    ['the same, promising much', { records: [record('900.0000000', [evilHop])] }, /^No swap: No path found/],
    ['a price of nothing', { records: [record('0.0000000', [])] }, /^No swap: No path found/],
    ['a price below the fee', { records: [record('0.0000050', [])] }, /^The swap brings 50 stroops and costs 100 /],
    [
      'another asset',
      { records: [{ ...record('200.0000000', []), destination_asset_type: 'credit_alphanum4' }] },
      /Horizon: not/,
    ],
    ['no number', { records: [record('1e3', [])] }, /Horizon: not an amount/],
    ['nothing', {}, /Horizon: not a list of paths/],
  ];
  const { scenario, keys } = await open(t);
  await scenario.start();
  for (const [what, embedded, reason] of lies) {
    await net.fault({ methods: ['horizon.strictSend'], act: { kind: 'result', result: { _embedded: embedded } } });
    await refusedSwap(scenario, what, reason);
    t.equal(scenario.signatures, 0, what);
    await net.clearFaults();
  }
  const [id = ''] = await minutes(scenario, lies.length + 1);
  await scenario.untilStatus(id, 'confirmed', { mining: true });
  t.equal(await dollars(keys), 0n);
});

t.test('a swap’s path may lead over another asset only if that is allowed', async (t) => {
  const { asset, issuer, holders } = await openMarket(scene, 'GBP', '0');
  const [seller] = holders as [Keypair];
  await land(await signed(seller, [Operation.changeTrust({ asset: usd })]));
  await pay(seller, '500');
  await land(
    await signed(seller, [Operation.manageSellOffer({ selling: usd, buying: asset, amount: '500', price: '0.5' })]),
  );
  const GBP = `GBP:${issuer.publicKey()}`;
  const alone = await open(t, { asset, issuer, held: '10' });
  await alone.scenario.start();
  const [id = ''] = await minutes(alone.scenario);
  await alone.scenario.until('why', async () =>
    /which? allowed_tokens does not name|that allowed_tokens does not name/.test(await reasonOf(alone.scenario, id)),
  );
  await alone.scenario.stop();
  const both = await open(t, {
    asset,
    issuer,
    held: '10',
    tokens: [{ asset: GBP }, { asset: USD, swap_config: { min_amount: 1 } }],
  });
  const before = await both.lumens();
  await both.scenario.start();
  const [other = ''] = await minutes(both.scenario);
  await both.scenario.untilStatus(other, 'confirmed', { mining: true });
  t.equal((await both.lumens()) - before, 40n * LUMEN - 100n);
});

t.test('a paused relayer starts no swap, and a policy without swaps ends the one that had begun', async (t) => {
  const { scenario } = await open(t);
  const change = (over: object) =>
    scenario.store.write(async (writer) => {
      const relayer = await writer.relayer('r1');
      if (relayer !== undefined) await writer.putRelayer({ ...relayer, ...over });
    });
  await net.fault({ methods: ['horizon.strictSend'], act: { kind: 'result', result: { _embedded: { records: [] } } } });
  await scenario.start();
  const [id = ''] = await minutes(scenario);
  await scenario.until('it waits', async () =>
    (await reasonOf(scenario, id)).startsWith('No swap: No path found for conversion '),
  );
  await change({ policies: { fee_payment_strategy: 'user', allowed_tokens: [{ asset: USD }] } });
  await net.clearFaults();
  scenario.pass(10_000);
  await scenario.untilStatus(id, 'failed');
  t.match(await reasonOf(scenario, id), /no swap of USD:\S+ any more/);
  t.equal(scenario.signatures, 0);
});
