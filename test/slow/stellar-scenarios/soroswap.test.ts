/** Contract tokens become lumens through Soroswap’s router. The relayer authorizes nothing else. */
import type { Keypair } from '@stellar/stellar-sdk';
import t, { type Test } from 'tap';
import type { JsonObject } from '../../../src/domain/json/json.ts';
import { createMarketClient, createMarketHttp } from '../../../src/egress/market-client.ts';
import { type SoroswapLie, startSoroswap } from '../../support/soroswap.ts';
import { address, i128, invoke, startContractScene, text, u32 } from '../../support/stellar-contract-scene.ts';
import { StellarScenario } from '../../support/stellar-scenario.ts';
import { LUMEN } from '../../support/stellar-scene.ts';
import { minutes, notify, reasonOf, refusedSwap, swapEvents, swapsOf } from '../../support/swap-watch.ts';

const scene = await startContractScene();
const { net, funded, land, prepared, asked, native } = scene;
t.teardown(() => net.stop());

const VARIABLE = 'STELLAR_TESTNET_SOROSWAP_ROUTER_ADDRESS';
const soroswap = await startSoroswap(t);
const http = createMarketHttp();
t.teardown(() => http.close());
const routesWith = (apiKey: string) =>
  createMarketClient({ url: soroswap.url, apiKey, keyIn: 'authorization', http, timeoutMs: 500 });

const issuer = await funded();
const makeToken = (name: string) => net.contract('token', address(issuer), u32(7), text(name), text(name));
const mint = async (token: string, to: string, amount: bigint) =>
  land(await prepared(issuer, invoke(token, 'mint', address(to), i128(amount))));

/** A router that gives one lumen for four tokens, and has a thousand lumens. */
async function makeRouter(token: string): Promise<string> {
  const router = await net.contract('router', address(token), address(native), i128(1n), i128(4n));
  const owner = await funded(2_000n * LUMEN);
  const pays = invoke(native, 'transfer', address(owner), address(router), i128(1_000n * LUMEN));
  await land(await prepared(owner, pays));
  return router;
}

const token = await makeToken('T');
const router = await makeRouter(token);
const quarter = { way: [token, native], out: (amount: bigint) => amount / 4n };
soroswap.trade(token, native, quarter);

interface Set {
  key?: string | null;
  at?: string | null;
  tokens?: JsonObject[];
  policies?: JsonObject;
}

/** A relayer with 400 tokens, which are worth 100 lumens. */
async function open(t: Test, { key = soroswap.key, at = router, tokens = [{ asset: token }], policies }: Set = {}) {
  const keys = await funded();
  await mint(token, keys.publicKey(), 400n * LUMEN);
  const scenario = await StellarScenario.open(t, scene, {
    keys,
    stroops: null,
    deployments: { contracts: at === null ? {} : { [VARIABLE]: at }, routes: key === null ? null : routesWith(key) },
    policies: {
      fee_payment_strategy: 'user',
      allowed_tokens: tokens,
      swap_config: { strategies: ['order-book', 'soroswap'], cron_schedule: '0 * * * * *' },
      ...policies,
    },
  });
  await notify(scenario);
  t.teardown(() => {
    soroswap.lie(null);
    soroswap.fail(null);
  });
  return { scenario, keys, lumens: () => scene.balanceOf(keys.publicKey()) };
}

const held = (keys: Keypair) => asked(token, 'balance', address(keys)) as Promise<bigint>;

for (const [how, key] of [
  ['by the way of its API', soroswap.key],
  ['the direct way without a key', null],
] as const) {
  t.test(`what was collected becomes lumens through the router, ${how}`, async (t) => {
    const { scenario, keys, lumens } = await open(t, { key });
    const before = await lumens();
    const [{ length }, calls] = [soroswap.asked, await net.calls('simulateTransaction')];
    await scenario.start();
    const [id = ''] = await minutes(scenario);
    await scenario.untilStatus(id, 'confirmed', { mining: true });
    t.equal(await held(keys), 0n);
    const { fields, hash } = await scenario.get(id);
    const { fee } = fields['receipt'] as { fee: number };
    t.equal((await lumens()) - before, 100n * LUMEN - BigInt(fee));
    t.equal(await scenario.executions(id), 1);
    const told = { mint: token, source_amount: 4_000_000_000, destination_amount: 1_000_000_000, error: null };
    t.match(await swapEvents(scenario, id), [
      ['stellar_dex_queued', [{ ...told, transaction_signature: hash }]],
      ['stellar_dex', [{ ...told, transaction_signature: hash }]],
    ]);
    t.ok((await net.calls('simulateTransaction')) > calls);
    const questions = soroswap.asked.slice(length);
    if (key === null) return void t.equal(questions.length, 0);
    t.match(questions.at(-1), { assetIn: token, assetOut: native, amount: '4000000000', protocols: ['soroswap'] });
  });
}

t.test('whenever the process dies, a swap is executed once', async (t) => {
  for (const step of ['written', 'offered'] as const) {
    const { scenario, keys } = await open(t);
    await scenario.start({ diesAt: step });
    await minutes(scenario);
    await scenario.until(`dead at ${step}`, () => scenario.isDead);
    await scenario.start();
    const [id = '', ...others] = (await swapsOf(scenario)).map((one) => one.id);
    await scenario.untilStatus(id, 'confirmed', { mining: true });
    t.equal(await held(keys), 0n, step);
    t.equal(await scenario.executions(id), 1, step);
    t.equal(others.length, 0, step);
    await scenario.stop();
  }
});

t.test('an API that lies leads nothing away', async (t) => {
  const evil = await makeToken('EVIL');
  const by =
    (over: object): SoroswapLie =>
    (quote) => ({ ...quote, ...over });
  const way =
    (path: string[]): SoroswapLie =>
    (quote) => ({ ...quote, rawTrade: { ...quote.rawTrade, path } });
  const lies: [string, SoroswapLie, RegExp][] = [
    ['a way over a token of its own', way([token, evil, native]), new RegExp(`leads over ${evil}`)],
    ['a way to another token', way([token, evil]), /a path between other assets/],
    ['a way from another token', way([evil, native]), /a path between other assets/],
    ['a way in circles', way([token, native, token, native]), /a path between other assets/],
    ['no way', (quote) => ({ ...quote, rawTrade: {} }), /has no path/],
    ['two ways at once', split(2), /has no path/],
    ['another token for it', by({ assetOut: evil }), /for something else/],
    ['another amount', by({ amountIn: '4000000001' }), /for something else/],
    ['a price that nobody pays', by({ amountOut: '1020000000' }), /Error\(Contract, #507\)|insufficient output/],
    ['no number', by({ amountOut: '1e9' }), /its quote is invalid/],
    ['a negative price', by({ amountOut: '-1' }), /its quote is invalid/],
  ];
  const { scenario, keys, lumens } = await open(t);
  const before = await lumens();
  await scenario.start();
  for (const [what, lie, reason] of lies) {
    soroswap.lie(lie);
    await refusedSwap(scenario, what, reason);
    t.equal(scenario.signatures, 0, what);
  }
  t.strictSame([await held(keys), await lumens()], [400n * LUMEN, before]);
});

/** A quote in the aggregator's form, split into this many parts. */
function split(parts: number): SoroswapLie {
  const part = { protocol_id: 'soroswap', path: [token, native], parts: 1, is_exact_in: true };
  return (quote) => {
    const { path: _, ...rawTrade } = quote.rawTrade;
    return { ...quote, platform: 'aggregator', rawTrade: { ...rawTrade, distribution: Array(parts).fill(part) } };
  };
}

t.test('an API that tells too little costs nothing: the router’s own price holds', async (t) => {
  const { scenario, keys, lumens } = await open(t);
  const before = await lumens();
  soroswap.lie((quote) => ({ ...split(1)(quote), amountOut: '1' }));
  await scenario.start();
  const [id = ''] = await minutes(scenario);
  await scenario.untilStatus(id, 'confirmed', { mining: true });
  t.match((await scenario.get(id)).fields, { swap: { promised: 1_000_000_000, least: 990_000_000 } });
  t.equal(await held(keys), 0n);
  t.ok((await lumens()) - before > 99n * LUMEN);
});

t.test('without an API that answers, or a key that it takes, a swap waits and says so', async (t) => {
  for (const [key, failure, reason] of [
    ['sk_of_nobody', null, /^No swap: it answered with status 403: Forbidden/],
    [soroswap.key, 'gateway', /^No swap: it answered with status 502/],
    [soroswap.key, 'silence', /^No swap: /],
  ] as const) {
    const { scenario } = await open(t, { key });
    soroswap.fail(failure);
    await scenario.start();
    const [id = ''] = await minutes(scenario);
    await scenario.until('why', async () => reason.test(await reasonOf(scenario, id)));
    t.equal(scenario.signatures, 0);
    await scenario.stop();
  }
});

t.test('a router that asks for more than the token is given no consent', async (t) => {
  const { scenario, keys, lumens } = await open(t, { at: await net.contract('thief', address(native)), key: null });
  const before = await lumens();
  await scenario.start();
  const [id = ''] = await minutes(scenario);
  await scenario.untilStatus(id, 'failed');
  t.match(await reasonOf(scenario, id), /^The swap is not signed: its authorization covers more than one transfer/);
  t.equal(scenario.signatures, 0);
  t.strictSame([await held(keys), await lumens()], [400n * LUMEN, before]);
});

t.test('a node that tells of resources beyond all bounds gets no signature', async (t) => {
  const { scenario } = await open(t, { key: null });
  await net.fault({
    methods: ['simulateTransaction'],
    act: { kind: 'merge', fields: { minResourceFee: '4000000000' } },
  });
  await scenario.start();
  const [id = ''] = await minutes(scenario);
  await scenario.until('too dear', async () =>
    /^The swap brings \d+ stroops and costs \d+|Insufficient balance/.test(await reasonOf(scenario, id)),
  );
  t.equal(scenario.signatures, 0);
});
