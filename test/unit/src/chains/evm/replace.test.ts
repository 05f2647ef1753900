import t from 'tap';
import type { ReplacementPreparation, ReplacementSpec } from '../../../../../src/chains/chain-client.ts';
import { networkSchema, readNetworkSettings } from '../../../../../src/chains/evm/configuration/network.ts';
import { openPrepareParts, type PrepareParts, prepareTransaction } from '../../../../../src/chains/evm/prepare.ts';
import type { GasMarket } from '../../../../../src/chains/evm/price/gas-market.ts';
import {
  feeCapsOf,
  type GasPrice,
  highestFeeCaps,
  minimumBump,
  priceFields,
} from '../../../../../src/chains/evm/price/gas-price.ts';
import {
  checkReplacement,
  type EarlierAttempt,
  noopRequest,
  prepareReplacement,
  replacementDelayMs,
} from '../../../../../src/chains/evm/replace.ts';
import { readChainFields, readStoredRequest } from '../../../../../src/chains/evm/schema.ts';
import { signTransaction } from '../../../../../src/chains/evm/signing.ts';
import { systemClock } from '../../../../../src/domain/clock.ts';
import type { JsonObject } from '../../../../../src/domain/json/json.ts';
import { RpcError } from '../../../../../src/egress/rpc/rpc-client.ts';
import type { Transaction } from '../../../../../src/features/transactions/records/transaction.ts';
import { startAnvil } from '../../../../support/anvil.ts';
import { openRpc, signerOf, storedTransaction } from '../../../../support/evm.ts';
import { fc, runsOf } from '../../../../support/properties.ts';

const FROM = '0x00000000000000000000000000000000000000a1';
const TO = '0x00000000000000000000000000000000000000b0';
const GWEI = 1_000_000_000n;
const RICH = 10n ** 40n;
const TRANSFER = { to: TO, value: 5, speed: 'fast' };

const settingsOf = (settings: JsonObject = {}) =>
  readNetworkSettings({ type: 'evm', name: 'testnet', rpcUrls: [], settings: networkSchema.parse(settings) });

interface World {
  baseFee?: bigint | null;
  gasPrice?: bigint;
  tip?: bigint;
  blockGasLimit?: bigint;
  balance?: bigint;
  doubt?: string;
  /** Null: the node cannot estimate gas. */
  estimate?: bigint | null;
  /** The estimate of the other nodes. */
  others?: bigint;
  settings?: JsonObject;
}

/** The network's answers without a network. The block time is so long that only one rise of the base fee is added. */
function partsOf(world: World): PrepareParts {
  const { baseFee = GWEI, gasPrice = 2n * GWEI, tip = 10n, blockGasLimit = 30_000_000n, balance = RICH } = world;
  const { estimate = 21_000n, others = estimate } = world;
  const market: GasMarket = {
    block: { number: 1n, hash: `0x${'1'.repeat(64)}`, gasLimit: blockGasLimit, baseFeePerGas: baseFee },
    gasPrice,
    tips: baseFee === null ? undefined : { safeLow: tip, average: tip, fast: tip, fastest: tip },
    ...(world.doubt === undefined ? {} : { doubt: world.doubt }),
  };
  return {
    figure: (use) => use(async () => Promise.reject(new RpcError('node', 'execution reverted'))),
    estimate: async (_call, of) => {
      const used = of === 'all' ? others : estimate;
      return used === null ? { kind: 'fails', reason: 'execution reverted' } : { kind: 'gas', used };
    },
    settings: settingsOf({ average_blocktime_ms: 90_001, ...world.settings }),
    chainId: 31_337n,
    market: async () => market,
    balance: async () => balance,
    endpoints: { endpointCount: 1, onAll: () => [] },
  };
}

const dynamic = (maxFeePerGas: bigint, maxPriorityFeePerGas: bigint): GasPrice => ({
  kind: 'eip1559',
  maxFeePerGas,
  maxPriorityFeePerGas,
});
const feesOf = (price: GasPrice) => priceFields(price) as JsonObject;
const legacy = (gasPrice: bigint): GasPrice => ({ kind: 'legacy', gasPrice });

const account = (policies: JsonObject = {}) => ({ address: FROM, policies });

interface History {
  body?: JsonObject;
  prices?: readonly GasPrice[];
  purpose?: EarlierAttempt['purpose'];
  gasLimit?: number;
}

/** A transaction with one signed version for each price. The last version has the given purpose. */
function signed({ body = TRANSFER, prices = [dynamic(GWEI, 10n)], purpose = 'send', gasLimit = 21_000 }: History = {}) {
  const pending = storedTransaction(account(), body);
  const attempts = prices.map((price, index): EarlierAttempt => {
    const isLast = index === prices.length - 1;
    const request = isLast && purpose === 'noop' ? noopRequest(account()) : pending.request;
    const fields = { chain_id: 31_337, from: FROM, gas_limit: gasLimit, ...feesOf(price) };
    return { purpose: isLast ? purpose : 'send', request, fields };
  });
  const transaction: Transaction = { ...pending, fields: attempts.at(-1)?.fields ?? {}, sequence: 0n };
  return { transaction, attempts };
}

const BUMP: ReplacementSpec = { purpose: 'bump' };
const NOOP: ReplacementSpec = { purpose: 'noop' };
const replaceBy = (body: JsonObject): ReplacementSpec => ({
  purpose: 'replace',
  request: storedTransaction(account(), body).request,
});

function version(world: World, history: History, wanted: ReplacementSpec, policies: JsonObject = {}, committed = 0n) {
  return prepareReplacement(partsOf(world), signed(history), wanted, account(policies), { committed });
}

t.test('a bump is a tenth dearer, or as dear as the market asks', async (t) => {
  const over = await version({}, { prices: [dynamic(10n * GWEI, 100n), dynamic(9n * GWEI, 200n)] }, BUMP);
  const fields = { max_fee_per_gas: 11_000_000_000, max_priority_fee_per_gas: 220 };
  t.match(over, { kind: 'ready', fields: { ...fields, gas_limit: 21_000 }, cost: 21_000n * 11n * GWEI + 5n });
  t.same(over.kind === 'ready' && over.request, signed().transaction.request, 'the same request');

  const dear = await version({ baseFee: 50n * GWEI }, { prices: [dynamic(10n * GWEI, 1n)] }, BUMP);
  t.match(dear, { fields: { max_fee_per_gas: Number(50n * GWEI) + 10, max_priority_fee_per_gas: 10 } });
  const old = await version({ baseFee: null, gasPrice: 20n }, { prices: [legacy(10n)] }, BUMP);
  t.match(old, { fields: { gas_price: 30 } }, 'the legacy price of the speed');
  t.match(await version({ baseFee: null, gasPrice: 2n }, { prices: [legacy(100n)] }, BUMP), {
    fields: { gas_price: 110 },
  });
});

t.test('a price that was given is bumped as well, in its kind', async (t) => {
  const body = { to: TO, value: 5, gas_price: Number(GWEI) };
  const prices = [legacy(GWEI)];
  t.match(await version({ gasPrice: 1n }, { body, prices }, BUMP), { fields: { gas_price: 1_100_000_000 } });
  t.match(await version({ gasPrice: 4n * GWEI }, { body, prices }, BUMP), { fields: { gas_price: 6_000_000_000 } });
  const both = { to: TO, value: 5, max_fee_per_gas: Number(2n * GWEI), max_priority_fee_per_gas: 20 };
  const capped = await version({}, { body: both, prices: [dynamic(2n * GWEI, 20n)] }, BUMP, {
    gas_price_cap: 2_100_000_000,
  });
  t.match(capped, { kind: 'parked' }, 'never above the cap');
});

t.test('a bump that the cap does not allow waits', async (t) => {
  const prices = [dynamic(10n * GWEI, 100n)];
  const parked = await version({}, { prices }, BUMP, { gas_price_cap: Number(11n * GWEI) - 1 });
  t.match(parked, {
    kind: 'parked',
    reason: 'Policy gas_price_cap: the least gas price of a replacement 11000000000 exceeds gas price cap 10999999999',
    retryInMs: 10_000,
  });
  const allowed = await version({ baseFee: 10n * GWEI, tip: 3n * GWEI }, { prices }, BUMP, {
    gas_price_cap: Number(11n * GWEI),
  });
  t.match(allowed, { fields: { max_fee_per_gas: Number(11n * GWEI), max_priority_fee_per_gas: Number(3n * GWEI) } });
  const hopeless = await version({ baseFee: 20n * GWEI }, { prices }, BUMP, { gas_price_cap: Number(15n * GWEI) });
  t.match(hopeless, { kind: 'parked', reason: /^Policy gas_price_cap: the network's gas price 20000000000 exceeds/ });
});

t.test('a bump is of the latest version', async (t) => {
  const { transaction, attempts } = signed({ prices: [dynamic(GWEI, 10n), dynamic(2n * GWEI, 20n)] });
  const { request } = storedTransaction(account(), { ...TRANSFER, value: 77 });
  const replaced = attempts.map((one, index) => (index === 1 ? { ...one, purpose: 'replace' as const, request } : one));
  const bumped = await prepareReplacement(partsOf({}), { transaction, attempts: replaced }, BUMP, account(), {
    committed: 0n,
  });
  t.same(bumped.kind === 'ready' && bumped.request, request);
  const again = await version({}, { purpose: 'noop', prices: [dynamic(50n * GWEI, 10n)] }, NOOP, { gas_price_cap: 1 });
  t.match(
    again,
    { kind: 'ready', fields: { max_fee_per_gas: Number(55n * GWEI) } },
    'one void in the place of another',
  );
  t.match(again, { request: noopRequest(account()) });
});

t.test('policies of the moment hold for what is put in its place, not for what is on offer already', async (t) => {
  const policies = { whitelist_receivers: [FROM], gas_limit_estimation: false };
  t.match(await version({}, {}, BUMP, policies), { kind: 'ready' });
  t.match(await version({}, {}, NOOP, policies), { kind: 'ready' });
  t.match(await version({}, {}, replaceBy({ ...TRANSFER, value: 6 }), policies), {
    kind: 'refused',
    reason: 'Policy whitelist_receivers: Transaction target address is not whitelisted',
  });
});

t.test('what no block could hold any more is refused, so that its nonce can be freed', async (t) => {
  const refused = await version({ blockGasLimit: 50_000n }, { gasLimit: 50_001 }, BUMP);
  t.same(refused, { kind: 'refused', reason: 'Transaction gas limit (50001) exceeds block gas limit (50000)' });
  t.match(await version({ blockGasLimit: 50_000n }, { gasLimit: 50_001 }, NOOP), { kind: 'ready' });
});

t.test('a noop takes the nonce and does nothing, beyond the cap by the minimum bump only', async (t) => {
  const prices = [legacy(100n * GWEI)];
  const made = await version({ baseFee: 90n * GWEI }, { prices }, NOOP, { gas_price_cap: 1 });
  const fee = 110n * GWEI;
  t.match(made, {
    kind: 'ready',
    fields: { gas_limit: 21_000, max_fee_per_gas: Number(fee), max_priority_fee_per_gas: Number(fee) },
    cost: 21_000n * fee,
  });
  t.match(made.kind === 'ready' && readStoredRequest(made.request), { to: FROM, value: 0n, data: '0x' });
  const high = { baseFee: 90n * GWEI, tip: 40n * GWEI };
  t.match(
    await version(high, { prices: [dynamic(50n * GWEI, 30n * GWEI)] }, NOOP, { gas_price_cap: Number(60n * GWEI) }),
    { fields: { max_fee_per_gas: Number(60n * GWEI), max_priority_fee_per_gas: Number(40n * GWEI) } },
    'the market’s price as far as the cap',
  );
  t.match(await version(high, { prices: [dynamic(50n * GWEI, 30n * GWEI)] }, NOOP), {
    fields: { max_fee_per_gas: Number(130n * GWEI) },
  });
  t.match(await version({ baseFee: null, gasPrice: 2n }, { prices: [] }, NOOP), { fields: { gas_price: 3 } });
  t.match(await version({ baseFee: null, gasPrice: 20n }, { prices: [] }, NOOP, { gas_price_cap: 7 }), {
    fields: { gas_price: 7 },
  });
});

t.test('without a cap the market takes bumps and noops to a hundred times the first price', async (t) => {
  const mad = { baseFee: 10n ** 17n };
  const prices = [dynamic(2n * GWEI, GWEI), dynamic(5n * GWEI, 2n * GWEI)];
  for (const wanted of [BUMP, NOOP]) {
    t.match(await version(mad, { prices }, wanted), { fields: { max_fee_per_gas: Number(200n * GWEI) } });
    const cheap = await version(mad, { prices: [dynamic(1n, 1n)] }, wanted);
    t.match(cheap, { fields: { max_fee_per_gas: Number(100n * GWEI) } }, 'a cheap one counts as a gwei');
  }
  const reached = [...prices, dynamic(200n * GWEI, 2n * GWEI)];
  t.match(await version(mad, { prices: reached }, BUMP), {
    kind: 'parked',
    reason: /offer 220000000000 wei per gas, more than 100 times the first$/,
  });
  t.match(await version(mad, { prices: reached }, NOOP), { fields: { max_fee_per_gas: Number(220n * GWEI) } });
});

t.test('while the market is in doubt, a noop outbids what is on offer and the rest waits', async (t) => {
  const world = { baseFee: 5n * GWEI, tip: GWEI, doubt: 'one node says so' };
  const prices = [dynamic(2n * GWEI, 100n)];
  const parked = { kind: 'parked', reason: 'one node says so' };
  t.match(await version(world, { prices }, BUMP), parked);
  t.match(await version(world, { prices }, replaceBy(TRANSFER)), parked);
  t.match(await version(world, { prices }, replaceBy({ to: TO, value: 1, gas_price: Number(3n * GWEI) })), {
    kind: 'ready',
  });
  t.match(await version(world, { prices }, NOOP), { fields: { max_fee_per_gas: Number((22n * GWEI) / 10n) } });
  t.match(await version(world, { prices: [] }, NOOP), parked, 'nothing to outbid');
});

t.test('a noop has the gas that doing nothing takes on its chain', async (t) => {
  const gas = async (world: World) => {
    const made = await version(world, {}, NOOP);
    return made.kind === 'ready' ? made.fields['gas_limit'] : made.reason;
  };
  const arbitrum = { tags: ['arbitrum-based'] };
  t.equal(await gas({ estimate: 3n }), 21_000);
  t.equal(await gas({ estimate: 100_000n }), 110_000);
  t.equal(await gas({ estimate: null }), 21_000);
  t.equal(await gas({ estimate: null, settings: arbitrum }), 50_000);
  t.equal(await gas({ estimate: 400_000n, settings: arbitrum }), 600_000);
});

t.test('one wrong estimate does not rule a noop’s gas', async (t) => {
  const gas = async (world: World) => {
    const made = await version(world, {}, NOOP);
    return made.kind === 'ready' ? made.fields['gas_limit'] : made.reason;
  };
  const absurd = 100_000_000n;
  t.equal(await gas({ estimate: absurd, others: 21_000n }), 21_000, 'other nodes know better');
  const block = { estimate: absurd, blockGasLimit: 150_000n };
  t.equal(await gas(block), 150_000, 'no more than a block holds');
  t.equal(await gas({ blockGasLimit: 20_000n }), 21_000, 'and no less than any transaction takes');
  t.equal(await gas({ estimate: 90_000n, blockGasLimit: 0n }), 99_000, 'a block without a limit says nothing');
});

t.test('a noop is priced down to what the balance pays, and waits where that beats nothing', async (t) => {
  const prices = [dynamic(GWEI, 10n)];
  const gas = 21_000n;
  const market = { baseFee: 3n * GWEI };
  const priced = async (balance: bigint, policies: JsonObject = {}, history: History = { prices }) => {
    const made = await version({ ...market, balance }, history, NOOP, { min_balance: 0, ...policies }, RICH);
    return made.kind === 'ready' ? made.fields['max_fee_per_gas'] : made;
  };
  const full = 3n * GWEI + 11n;
  t.equal(await priced(gas * full), Number(full));
  t.equal(await priced(gas * full - 1n), Number(full - 1n));
  const bumped = (11n * GWEI) / 10n;
  t.equal(await priced(gas * bumped), Number(bumped));
  t.match(await priced(gas * bumped - 1n), {
    kind: 'parked',
    reason: `Insufficient balance: Relayer balance ${gas * bumped - 1n} is insufficient to cover ${gas * bumped}`,
  });
  const min_balance = Number(gas * 7n);
  t.equal(await priced(gas * full, { min_balance }), Number(full - 7n), 'the reserve stays while it can be mined');
  t.equal(await priced(gas * (3n * GWEI + 5n), { min_balance }), Number(3n * GWEI), 'else it is taken from');
  t.equal(await priced(gas * 2n * GWEI, { min_balance }), Number(2n * GWEI));
  t.equal(await priced(gas * 3n * GWEI, {}, { prices: [] }), Number(3n * GWEI), 'with nothing to beat, the base fee');
  t.match(await priced(gas * 3n * GWEI - 1n, {}, { prices: [] }), { kind: 'parked' });
});

t.test('a replacement may take what the dearest of the earlier versions would have taken', async (t) => {
  const { transaction, attempts } = signed({ prices: [dynamic(2n * GWEI, 10n), dynamic(3n * GWEI, 20n)] });
  const dear = storedTransaction(account(), { ...TRANSFER, value: 9_000_000_000_000_000 }).request;
  const entry = { transaction, attempts: attempts.map((one, at) => (at === 0 ? { ...one, request: dear } : one)) };
  const committed = 21_000n * 2n * GWEI + 9n * 10n ** 15n;
  const wanted = replaceBy({ ...TRANSFER, gas_limit: 21_000, value: 5_000_000_000_000_000 });
  const parts = partsOf({ balance: 10n ** 16n });
  t.match(await prepareReplacement(parts, entry, wanted, account(), { committed }), { kind: 'ready' });
  t.match(await prepareReplacement(parts, entry, wanted, account(), { committed: committed + 5n * 10n ** 15n }), {
    kind: 'parked',
  });
});

t.test('only what a version costs beyond the earlier ones is asked of the balance', async (t) => {
  const prices = [dynamic(2n * GWEI, 10n)];
  const before = 21_000n * 2n * GWEI + 5n;
  const now = (21_000n * 22n * GWEI) / 10n + 5n;
  const bump = (balance: bigint) => version({ balance }, { prices }, BUMP, {}, before + 1_000n);
  t.match(await bump(now + 1_000n + 1n), { kind: 'ready', cost: now });
  t.match(await bump(now + 1_000n), { kind: 'parked', reason: /while up to 1000 may be taken/ });
  t.match(
    await bump(now),
    { kind: 'parked', reason: /enforced minimum balance of 1 while up to 1000 may be taken/ },
    'the earlier version stays good',
  );
  const short = await version({ balance: now }, { prices }, replaceBy({ ...TRANSFER, gas_limit: 21_000 }), {}, before);
  t.match(short, { kind: 'parked', reason: /enforced minimum balance of 1$/ });
});

t.test('a replacement has exactly the fees that it gives', async (t) => {
  const prices = [dynamic(10n * GWEI, 100n)];
  const fees = (maxFee: bigint, tip: number) =>
    replaceBy({ to: TO, value: 9, max_fee_per_gas: Number(maxFee), max_priority_fee_per_gas: tip });
  const made = await version({ estimate: 40_000n }, { prices }, fees(11n * GWEI, 110));
  t.match(made, {
    kind: 'ready',
    fields: { gas_limit: 44_000, max_fee_per_gas: Number(11n * GWEI), max_priority_fee_per_gas: 110 },
  });
  t.match(made.kind === 'ready' && readStoredRequest(made.request), { value: 9n });
  const short = { kind: 'refused', reason: 'Gas price increase does not meet minimum bump requirement' };
  t.same(await version({}, { prices }, fees(11n * GWEI - 1n, 110)), short);
  t.same(await version({}, { prices }, fees(11n * GWEI, 109)), short);
  const capped = await version({}, { prices }, fees(12n * GWEI, 110), { gas_price_cap: Number(11n * GWEI) });
  t.same(capped, { kind: 'refused', reason: 'Max fee per gas 12000000000 exceeds gas price cap 11000000000' });
  const body = { to: TO, value: 9, gas_price: Number(12n * GWEI) };
  const dear = await version({}, { prices }, replaceBy(body), { gas_price_cap: Number(11n * GWEI) });
  t.same(dear, { kind: 'refused', reason: 'Gas price 12000000000 exceeds gas price cap 11000000000' });
  const settings = { tags: ['no-mempool'] };
  t.match(await version({ settings }, { prices }, fees(GWEI, 1)), { kind: 'ready' }, 'no pool, nothing to outbid');
});

t.test('a legacy version gives way to one of EIP-1559, and the reverse', async (t) => {
  const modern = await version({}, { prices: [legacy(10n * GWEI)] }, replaceBy(TRANSFER));
  t.match(modern, {
    fields: { max_fee_per_gas: Number(12n * GWEI), max_priority_fee_per_gas: Number(11n * GWEI) },
  });
  const old = await version(
    {},
    { prices: [dynamic(10n * GWEI, 1n)] },
    replaceBy({ to: TO, value: 1, gas_price: Number(11n * GWEI) }),
  );
  t.match(old, { fields: { gas_price: Number(11n * GWEI) } });
});

t.test('a replacement by speed that the cap does not allow is refused', async (t) => {
  const prices = [dynamic(10n * GWEI, 100n)];
  const refused = await version({}, { prices }, replaceBy(TRANSFER), { gas_price_cap: Number(10n * GWEI) });
  t.match(refused, {
    kind: 'refused',
    reason: /^Unable to calculate sufficient price bump for speed-based replacement: .*gas price cap 10000000000$/,
  });
  const capped = await version({ baseFee: 30n * GWEI }, { prices }, replaceBy(TRANSFER), {
    gas_price_cap: Number(12n * GWEI),
  });
  t.match(
    capped,
    { kind: 'ready', fields: { max_fee_per_gas: Number(12n * GWEI) } },
    'it waits at the cap as the first did',
  );
});

t.test('where there is no pool, a bump follows the market and is not forced', async (t) => {
  const settings = { tags: ['no-mempool'] };
  const prices = [dynamic(2n * GWEI, 50n)];
  const followed = await version({ settings, baseFee: 2n * GWEI + 1n }, { prices }, BUMP);
  t.match(followed, { fields: { max_fee_per_gas: Number(2n * GWEI) + 51, max_priority_fee_per_gas: 50 } });
  t.match(await version({ settings, baseFee: 2n * GWEI - 50n }, { prices }, BUMP), {
    kind: 'parked',
    reason: "The network's price is not above the 2000000000 wei per gas that were offered before",
  });
  const given = { to: TO, value: 5, max_fee_per_gas: Number(2n * GWEI), max_priority_fee_per_gas: 50 };
  t.match(
    await version({ settings, baseFee: 3n * GWEI }, { body: given, prices }, BUMP),
    { kind: 'ready' },
    'a given price too',
  );
  const capped = await version({ settings, baseFee: 3n * GWEI }, { prices }, BUMP, {
    gas_price_cap: Number(2n * GWEI),
  });
  t.match(capped, { kind: 'parked' });
});

t.test('on Arbitrum, where gas pays for data, a bump has the gas that it takes by now', async (t) => {
  const settings = { tags: ['arbitrum-based'] };
  const prices = [dynamic(2n * GWEI, 10n)];
  const bumped = await version({ settings, estimate: 200_000n }, { prices, gasLimit: 100_000 }, BUMP);
  t.match(bumped, { kind: 'ready', fields: { gas_limit: 300_000, max_fee_per_gas: Number(2n * GWEI) } });
  t.match(await version({ settings, estimate: 50_000n }, { prices, gasLimit: 100_000 }, BUMP), { kind: 'parked' });
});

const refusedFor = (refusal: string): ReplacementSpec => ({ purpose: 'bump', refusal });

t.test('a refused gas limit is chosen anew at the same price, whatever kind of network', async (t) => {
  const prices = [dynamic(2n * GWEI, 10n)];
  for (const tags of [['arbitrum-based'], ['no-mempool'], []]) {
    const gas = async (refusal: string, estimate: bigint, gasLimit = 100_000) => {
      const made = await version({ settings: { tags }, estimate }, { prices, gasLimit }, refusedFor(refusal));
      t.match(made, { kind: 'ready', fields: { max_fee_per_gas: Number(2n * GWEI) } });
      return made.kind === 'ready' ? made.fields['gas_limit'] : made;
    };
    t.equal(await gas('intrinsic gas too low', 200_000n), tags[0] === 'arbitrum-based' ? 300_000 : 220_000);
    t.equal(await gas('intrinsic gas too low', 10_000n), 125_000, 'a quarter more at least');
    const cap = 'transaction gas limit too high (cap: 16777216, tx: 17000000)';
    t.equal(await gas(cap, 16_000_000n, 17_000_000), 16_777_216);
    t.equal(await gas('exceeds max transaction gas limit', 90_000n), 90_000, 'without a figure no reserve');
  }
});

t.test('a gas limit of the request, or one that was chosen too often, ends it', async (t) => {
  const refusal = 'intrinsic gas too low';
  const own = await version({}, { body: { ...TRANSFER, gas_limit: 30_000 } }, refusedFor(refusal));
  t.same(own, { kind: 'refused', reason: `No node takes it: ${refusal}` });
  const often = { prices: Array.from({ length: 6 }, () => dynamic(GWEI, 10n)) };
  t.match(await version({}, often, refusedFor(refusal)), { kind: 'refused' });
  t.match(await version({}, often, { purpose: 'noop', refusal }), { kind: 'ready' }, 'a noop is never given up');
});

t.test('a price that a refusal names is offered at once, within the cap', async (t) => {
  const refusal = 'transaction underpriced: gas tip cap 10, minimum needed 25000000000';
  const tip = async (policies: JsonObject = {}) => {
    const made = await version({}, { prices: [dynamic(2n * GWEI, 10n)] }, refusedFor(refusal), policies);
    return made.kind === 'ready' ? made.fields['max_priority_fee_per_gas'] : made;
  };
  t.equal(await tip(), 25_000_000_000);
  t.equal(await tip({ gas_price_cap: 4_000_000_000 }), 4_000_000_000);
  const absurd = refusedFor(`transaction underpriced: gas tip cap 10, minimum needed ${10n ** 30n}`);
  const made = await version({}, { prices: [dynamic(2n * GWEI, 10n)] }, absurd);
  t.match(made, { fields: { max_fee_per_gas: Number(200n * GWEI) } }, 'a hundred times the first price');
  const noop = await version({}, { prices: [dynamic(2n * GWEI, 10n)] }, { purpose: 'noop', refusal });
  t.match(noop, { fields: { max_priority_fee_per_gas: 25_000_000_000 } });
});

t.test('what can be told of a replacement without the network', async (t) => {
  const { attempts } = signed({ prices: [dynamic(10n * GWEI, 100n)] });
  const check = (body: JsonObject, policies: JsonObject = {}, settings = settingsOf()) =>
    checkReplacement(attempts, storedTransaction(account(), body).request, account(policies), settings);
  const low = { to: TO, value: 1, gas_price: Number(10n * GWEI) };
  const refused = { code: 'INVALID_REQUEST', message: 'Gas price increase does not meet minimum bump requirement' };
  t.throws(() => check(low), refused);
  t.doesNotThrow(() => check(low, {}, settingsOf({ tags: ['optimism'] })));
  t.doesNotThrow(() => check({ ...low, gas_price: Number(11n * GWEI) }));
  t.doesNotThrow(() => check(TRANSFER));
  t.throws(() => check(TRANSFER, { gas_price_cap: 1 }), { message: /^Unable to calculate sufficient price bump/ });
  t.doesNotThrow(() =>
    checkReplacement([], storedTransaction(account(), TRANSFER).request, account({ gas_price_cap: 1 }), settingsOf()),
  );
});

t.test('versions whose prices were not kept cost at least the transaction’s own', async (t) => {
  const { transaction, attempts } = signed({ prices: [dynamic(10n * GWEI, 100n)] });
  const bare = attempts.map((one) => ({ ...one, fields: {} }));
  const bumped = await prepareReplacement(partsOf({}), { transaction, attempts: bare }, BUMP, account(), {
    committed: 0n,
  });
  t.match(bumped, { fields: { gas_limit: 21_000, max_fee_per_gas: Number(11n * GWEI) } });
});

t.test('patience by speed, doubled each time and never more than an hour', async (t) => {
  const settings = settingsOf();
  const minutes = (body: JsonObject, attempts: number) =>
    replacementDelayMs(settings, storedTransaction(account(), body), attempts) / 60_000;
  const bySpeed = { fastest: 2, fast: 3, average: 5, safeLow: 10 };
  for (const [speed, first] of Object.entries(bySpeed)) {
    t.same(
      [1, 2, 3].map((attempts) => minutes({ ...TRANSFER, speed }, attempts)),
      [first, 2 * first, 4 * first],
    );
    t.equal(minutes({ ...TRANSFER, speed }, 1_000_000), 60);
    t.equal(minutes({ ...TRANSFER, speed }, 0), first);
  }
  t.equal(minutes({ to: TO, value: 1, gas_price: 1 }, 1), 3);
  const voided = storedTransaction(account(), { ...TRANSFER, speed: 'safeLow' }, { noopEnd: 'canceled' });
  t.equal(replacementDelayMs(settings, voided, 1), 3 * 60_000, 'what is canceled is in a hurry');
  for (const tag of ['arbitrum-based', 'no-mempool', 'optimism-based']) {
    t.equal(replacementDelayMs(settingsOf({ tags: [tag] }), storedTransaction(account(), TRANSFER), 30), 20_000);
  }
});

/** Prices of every size. Small and huge ones come more often than in an even distribution. */
const wei = fc.oneof(fc.bigInt(0n, 30n), fc.bigInt(0n, 200n * GWEI), fc.bigInt(0n, (1n << 128n) - 1n));
const anyPrice: fc.Arbitrary<GasPrice> = fc.oneof(
  wei.map(legacy),
  fc.tuple(wei, wei).map(([one, other]) => (one > other ? dynamic(one, other) : dynamic(other, one))),
);
const anyBody: fc.Arbitrary<JsonObject> = fc.oneof(
  fc.constantFrom('safeLow', 'average', 'fast', 'fastest').map((speed) => ({ ...TRANSFER, speed })),
  anyPrice.map((price) => ({ to: TO, value: 5, ...feesOf(price) })),
);
const anyVersion: fc.Arbitrary<ReplacementSpec> = fc.oneof(
  fc.constant(BUMP),
  fc.constant(NOOP),
  anyBody.map((body) => replaceBy(body)),
);

t.test(
  'a version that is ready beats every earlier one, within the cap or for a void by no more than that',
  async (t) => {
    let ready = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          prices: fc.array(anyPrice, { minLength: 1, maxLength: 5 }),
          body: anyBody,
          purpose: fc.constantFrom('send', 'bump', 'noop'),
          baseFee: fc.option(wei),
          gasPrice: wei,
          tip: wei,
          cap: fc.option(wei),
          poolless: fc.boolean(),
          legacyPolicy: fc.boolean(),
          blocktime: fc.integer({ min: 1, max: 100_000 }),
          asked: anyVersion,
        }),
        async ({ prices, body, purpose, cap, poolless, legacyPolicy, blocktime, asked, ...figures }) => {
          // Only another no-op can replace a no-op.
          const wanted = asked.purpose === 'bump' && purpose === 'noop' ? NOOP : asked;
          const settings = { average_blocktime_ms: blocktime, ...(poolless ? { tags: ['no-mempool'] } : {}) };
          const world = { ...figures, balance: 1n << 300n, settings };
          const policies: JsonObject = {
            ...(cap === null ? {} : { gas_price_cap: cap.toString() }),
            ...(legacyPolicy ? { eip1559_pricing: false } : {}),
          };
          const history = signed({ body, prices, purpose });
          const made: ReplacementPreparation = await prepareReplacement(
            partsOf(world),
            history,
            wanted,
            account(policies),
            {
              committed: 0n,
            },
          );
          if (made.kind !== 'ready') return;
          ready += 1;

          const fields = readChainFields(made.fields);
          const earlier = highestFeeCaps(
            history.attempts.map((one) => readChainFields(one.fields)).filter((one) => one !== undefined),
          );
          const now = fields === undefined ? undefined : highestFeeCaps([fields]);
          if (now === undefined || earlier === undefined) throw new Error('a version has a price');
          const isVoid = wanted.purpose === 'noop';
          const given = wanted.purpose === 'replace' && readStoredRequest(wanted.request).price.kind !== 'speed';
          const isFollowing = poolless && wanted.purpose === 'bump' && !isVoid;
          const least = isFollowing ? { fee: earlier.fee + 1n, tip: earlier.tip } : minimumBump(earlier);
          const isFree = poolless && given;
          if (!isFree && (now.fee < least.fee || now.tip < least.tip)) throw new Error('an earlier version is as dear');
          if (now.tip > now.fee) throw new Error('the priority fee is more than the whole');
          const needed = least.fee > least.tip ? least.fee : least.tip;
          if (cap !== null && now.fee > cap && !(isVoid && now.fee <= needed)) throw new Error('above the cap');
          const first = highestFeeCaps(
            [readChainFields(history.attempts[0]?.fields ?? {})].filter((one) => one !== undefined),
          );
          const ceiling = 100n * ((first?.fee ?? 0n) > GWEI ? (first?.fee ?? 0n) : GWEI);
          const isOurs = isVoid || wanted.purpose === 'bump';
          if (isOurs && cap === null && now.fee > ceiling && !(isVoid && now.fee <= needed)) {
            throw new Error('far above the first');
          }
          if (made.cost !== now.fee * BigInt(Number(fields?.gas_limit)) + readStoredRequest(made.request).value) {
            throw new Error('another cost');
          }
        },
      ),
      { numRuns: runsOf(2_000) },
    );
    t.ok(ready > 500, `${ready} of them were ready`);
  },
);

t.test('a real node takes each attempt in the place of the one before', async (t) => {
  const anvil = await startAnvil({ args: ['--no-mining'] });
  const rpc = openRpc([anvil.url]);
  t.teardown(() => Promise.all([rpc.close(), anvil.stop()]));
  const [alice] = anvil.accounts;
  if (alice === undefined) throw new Error('anvil has accounts');
  const sender = { address: alice.address, policies: {} };
  const parts = openPrepareParts(rpc, settingsOf({ average_blocktime_ms: 1_000 }), 31_337n, systemClock);
  const signer = signerOf(alice);

  const first = storedTransaction(sender, TRANSFER);
  const prepared = await prepareTransaction(parts, first, sender, { committed: 0n });
  if (prepared.kind !== 'ready') throw new Error(prepared.reason);
  let transaction = { ...first, fields: prepared.fields, sequence: 0n };
  const attempts: EarlierAttempt[] = [];
  const hashes: string[] = [];
  const send = async (purpose: EarlierAttempt['purpose'], request: JsonObject, fields: JsonObject) => {
    const done = await signTransaction({ ...transaction, request }, fields, 0n, signer);
    t.equal(await anvil.rpc('eth_sendRawTransaction', [done.raw]), done.hash, `${purpose} is taken`);
    attempts.push({ purpose, request, fields: done.fields });
    hashes.push(done.hash);
    transaction = { ...transaction, request, fields: done.fields };
  };
  await send('send', first.request, prepared.fields);

  const highest = () => {
    const caps = feeCapsOf(dynamic(0n, 0n));
    return (
      highestFeeCaps(attempts.map(({ fields }) => readChainFields(fields)).filter((one) => one !== undefined)) ?? caps
    );
  };
  const asLegacy = () => ({ to: TO, value: 7, gas_price: minimumBump(highest()).fee.toString() });
  for (const next of [
    () => BUMP,
    () => replaceBy(asLegacy()),
    () => replaceBy({ ...TRANSFER, value: 8 }),
    () => BUMP,
    () => NOOP,
    () => BUMP,
  ]) {
    const wanted = next();
    const made = await prepareReplacement(parts, { transaction, attempts }, wanted, sender, { committed: 0n });
    if (made.kind !== 'ready') throw new Error(made.reason);
    const purpose = attempts.at(-1)?.purpose === 'noop' ? 'noop' : wanted.purpose;
    await send(purpose, made.request, made.fields);
  }

  await anvil.rpc('evm_mine');
  t.equal(await anvil.rpc('eth_getTransactionCount', [alice.address, 'latest']), '0x1', 'one nonce in all');
  const receipts = await Promise.all(hashes.map((hash) => anvil.rpc('eth_getTransactionReceipt', [hash])));
  t.same(
    receipts.map((receipt) => receipt !== null),
    [false, false, false, false, false, false, true],
  );
  t.equal(await anvil.rpc('eth_getBalance', [TO, 'latest']), '0x0', 'nothing was paid');
});
