import { Transaction as EthersTransaction } from 'ethers';
import t from 'tap';
import {
  type EvmNetworkSettings,
  networkSchema,
  readNetworkSettings,
} from '../../../../../src/chains/evm/configuration/network.ts';
import { readPolicy } from '../../../../../src/chains/evm/configuration/policy.ts';
import { callData, intrinsicGas } from '../../../../../src/chains/evm/price/gas-amount.ts';
import type { GasMarket } from '../../../../../src/chains/evm/price/gas-market.ts';
import {
  baseFeeMultiplier,
  feeCapsOf,
  type GasPrice,
  gasPriceFor,
  highestFeeCaps,
  lowerPrice,
  maxPricePerGas,
  minimumBump,
  PriceLimit,
  priceFields,
  raiseToFeeCaps,
  reachesFeeCaps,
  replacementMarketPrice,
} from '../../../../../src/chains/evm/price/gas-price.ts';
import {
  type ReplacementPricePlan,
  replacementPriceFor,
} from '../../../../../src/chains/evm/price/replacement-price.ts';
import { rollupDataFee, type UnsignedAttempt, zkEvmGasPrice } from '../../../../../src/chains/evm/price/rollup.ts';
import { readStoredRequest } from '../../../../../src/chains/evm/schema.ts';
import type { Json, JsonObject } from '../../../../../src/domain/json/json.ts';
import type { ReadFromEndpoint } from '../../../../../src/egress/rpc/rpc-client.ts';
import { startAnvil } from '../../../../support/anvil.ts';
import { openRpc, storedTransaction } from '../../../../support/evm.ts';
import { answersByMethod, type DoubleHandler, startRpcDouble } from '../../../../support/rpc-double.ts';

const GWEI = 1_000_000_000n;
const HASH = `0x${'1'.repeat(64)}`;
const FREE = readPolicy({});

const market = (over: Partial<GasMarket> = {}): GasMarket => ({
  block: { number: 1n, hash: HASH, gasLimit: 30_000_000n, baseFeePerGas: 10n * GWEI },
  gasPrice: 12n * GWEI,
  tips: { safeLow: 1n, average: 2n, fast: 3n, fastest: 4n },
  ...over,
});

t.test('the base fee may rise for 90 seconds of full blocks, at most tenfold', async (t) => {
  const examples = [
    [12_000, 2.2807],
    [6_000, 5.8518],
    [5_600, 6.5833],
    [5_000, 8.3319],
    [3_000, 10],
    [1, 10],
    [90_001, 1],
  ] as const;
  for (const [blocktime, factor] of examples) {
    t.ok(Math.abs(Number(baseFeeMultiplier(blocktime)) / 1e9 - factor) < 0.0001, `${blocktime} ms`);
  }
});

t.test('a speed pays its tip and headroom on the base fee, or a share of the legacy price', async (t) => {
  const speed = (name: 'safeLow' | 'average' | 'fast' | 'fastest') => ({ kind: 'speed', speed: name }) as const;
  t.same(gasPriceFor(speed('fast'), market(), FREE, 90_001), {
    kind: 'eip1559',
    maxFeePerGas: 10n * GWEI + 3n,
    maxPriorityFeePerGas: 3n,
  });
  const shares = { safeLow: 12n, average: 15n, fast: 18n, fastest: 24n };
  for (const [name, gwei] of Object.entries(shares)) {
    const asked = speed(name as keyof typeof shares);
    const legacy = { kind: 'legacy', gasPrice: gwei * GWEI };
    t.same(gasPriceFor(asked, market({ tips: undefined }), FREE, 12_000), legacy, 'the network knows no other');
    t.same(gasPriceFor(asked, market(), readPolicy({ eip1559_pricing: false }), 12_000), legacy, 'the policy says so');
  }
});

t.test('explicit prices are taken as they are', async (t) => {
  const legacy = { kind: 'legacy', gasPrice: 7n } as const;
  t.same(gasPriceFor(legacy, market(), FREE, 12_000), legacy);
  const dynamic = { kind: 'eip1559', maxFeePerGas: 9n, maxPriorityFeePerGas: 8n } as const;
  t.same(gasPriceFor(dynamic, market({ tips: undefined }), FREE, 12_000), dynamic);
});

t.test('the cap lowers, and the tip never exceeds the whole', async (t) => {
  const dynamic = { kind: 'eip1559', maxFeePerGas: 100n, maxPriorityFeePerGas: 50n } as const;
  t.same(lowerPrice(dynamic, null), dynamic);
  t.same(lowerPrice(dynamic, 60n), { ...dynamic, maxFeePerGas: 60n });
  t.same(lowerPrice(dynamic, 20n), { kind: 'eip1559', maxFeePerGas: 20n, maxPriorityFeePerGas: 20n });
  t.same(lowerPrice({ kind: 'legacy', gasPrice: 100n }, 20n), { kind: 'legacy', gasPrice: 20n });
  t.equal(maxPricePerGas(dynamic), 100n);
  t.equal(maxPricePerGas({ kind: 'legacy', gasPrice: 3n }), 3n);
});

t.test('a network that asks for more than the cap is noticed', async (t) => {
  const fault = (cap: bigint | null, of = market()) => new PriceLimit(cap).marketFault(of);
  t.equal(fault(null), undefined);
  t.equal(fault(10n * GWEI), undefined);
  t.equal(
    fault(10n * GWEI - 1n),
    "Policy gas_price_cap: the network's gas price 10000000000 exceeds gas price cap 9999999999",
  );
  const legacy = market({ block: { ...market().block, baseFeePerGas: null } });
  t.equal(
    fault(11n * GWEI, legacy),
    "Policy gas_price_cap: the network's gas price 12000000000 exceeds gas price cap 11000000000",
  );
});

const legacy = (gasPrice: bigint): GasPrice => ({ kind: 'legacy', gasPrice });
const dynamic = (maxFeePerGas: bigint, maxPriorityFeePerGas: bigint): GasPrice => ({
  kind: 'eip1559',
  maxFeePerGas,
  maxPriorityFeePerGas,
});

t.test('a later version follows the market in the kind of its request', async (t) => {
  const speed = { kind: 'speed', speed: 'fastest' } as const;
  t.same(replacementMarketPrice(speed, market(), FREE, 90_001), dynamic(10n * GWEI + 4n, 4n));
  t.same(replacementMarketPrice({ kind: 'legacy', gasPrice: 1n }, market(), FREE, 90_001), legacy(18n * GWEI), 'fast');
  const given = { kind: 'eip1559', maxFeePerGas: 9n, maxPriorityFeePerGas: 8n } as const;
  t.same(replacementMarketPrice(given, market(), FREE, 90_001), dynamic(10n * GWEI + 3n, 3n), 'fast');
  t.same(replacementMarketPrice(given, market({ tips: undefined }), FREE, 90_001), given, 'nothing to follow');
});

t.test('the highest of all versions, and a legacy price counts as both', async (t) => {
  const version = (price: GasPrice) => ({ chain_id: 1, from: '0x', gas_limit: 1, ...priceFields(price) });
  t.equal(highestFeeCaps([]), undefined);
  t.same(highestFeeCaps([version(dynamic(100n, 3n)), version(dynamic(90n, 5n))]), { fee: 100n, tip: 5n });
  t.same(highestFeeCaps([version(legacy(70n)), version(dynamic(100n, 3n))]), { fee: 100n, tip: 70n });
  t.same(highestFeeCaps([{ chain_id: 1, from: '0x', gas_limit: 1 }]), { fee: 0n, tip: 0n });
  const huge = 1n << 140n;
  t.same(highestFeeCaps([version(legacy(huge))]), feeCapsOf(legacy(huge)), 'exact beyond a double');
});

t.test('a tenth more, rounded down, and one wei at least', async (t) => {
  t.same(minimumBump({ fee: 100n, tip: 10n }), { fee: 110n, tip: 11n });
  t.same(minimumBump({ fee: 1_000_000_007n, tip: 19n }), { fee: 1_100_000_007n, tip: 20n });
  t.same(minimumBump({ fee: 9n, tip: 0n }), { fee: 10n, tip: 1n });
});

t.test('a price is raised in both caps, and room for the base fee stays', async (t) => {
  t.same(raiseToFeeCaps(dynamic(100n, 5n), { fee: 90n, tip: 4n }), dynamic(100n, 5n), 'dear enough');
  t.same(raiseToFeeCaps(dynamic(100n, 5n), { fee: 90n, tip: 25n }), dynamic(120n, 25n));
  t.same(raiseToFeeCaps(dynamic(100n, 5n), { fee: 200n, tip: 25n }), dynamic(200n, 25n));
  t.same(raiseToFeeCaps(legacy(100n), { fee: 90n, tip: 25n }), legacy(100n));
  t.same(raiseToFeeCaps(legacy(10n), { fee: 90n, tip: 25n }), legacy(90n));
  t.ok(reachesFeeCaps(dynamic(200n, 25n), { fee: 200n, tip: 25n }));
  t.notOk(reachesFeeCaps(dynamic(200n, 24n), { fee: 200n, tip: 25n }));
  t.notOk(reachesFeeCaps(dynamic(199n, 25n), { fee: 200n, tip: 25n }));
  t.ok(reachesFeeCaps(legacy(200n), { fee: 200n, tip: 25n }));
});

t.test('the price of a noop that nodes refused', async (t) => {
  const TO = '0x00000000000000000000000000000000000000b0';
  const GWEI = 1_000_000_000n;
  const account = { address: TO, policies: {} };
  const settingsOf = (settings: JsonObject = {}) =>
    readNetworkSettings({
      type: 'evm',
      name: 'x',
      rpcUrls: [],
      settings: networkSchema.parse({ average_blocktime_ms: 90_001, ...settings }),
    });

  const market = (baseFee: bigint, tip = 10n): GasMarket => ({
    block: { number: 1n, hash: `0x${'1'.repeat(64)}`, gasLimit: 30_000_000n, baseFeePerGas: baseFee },
    gasPrice: baseFee,
    tips: { safeLow: tip, average: tip, fast: tip, fastest: tip },
  });

  /** The price plan of a transfer that has one signed version, with a fee of 10 gwei. */
  function planOf(
    purpose: ReplacementPricePlan['purpose'],
    body: JsonObject = {},
    policies: JsonObject = {},
  ): ReplacementPricePlan {
    const request = readStoredRequest(storedTransaction(account, { to: TO, value: 5, speed: 'fast', ...body }).request);
    return {
      purpose,
      request,
      latest: { chain_id: 1, from: TO, gas_limit: 21_000, max_fee_per_gas: Number(10n * GWEI) },
      highest: { fee: 10n * GWEI, tip: 100n },
      firstFee: 10n * GWEI,
      policy: readPolicy(policies),
    };
  }

  const fees = (maxFeePerGas: bigint, maxPriorityFeePerGas: bigint) => ({
    kind: 'price',
    price: { kind: 'eip1559', maxFeePerGas, maxPriorityFeePerGas },
  });

  t.test('a noop outbids no refused attempt, and none beyond a ceiling', async (t) => {
    const priceAt = (plan: Partial<ReplacementPricePlan>) =>
      replacementPriceFor({ ...planOf('noop'), ...plan }, market(GWEI), 21_000n, settingsOf());
    t.same(priceAt({ isRefused: true }), fees(10n * GWEI, 100n));
    const highest = { fee: 950n * GWEI, tip: 100n };
    t.match(priceAt({ highest }), { kind: 'parked', reason: /more than 100 times the first$/ });
    t.match(priceAt({ highest, isRefused: true }), { kind: 'price' });
    t.match(priceAt({ highest, highestAsked: highest.fee }), { kind: 'price' }, 'a price of the request is outbid');
  });
});

t.test('gas', async (t) => {
  const TO = `0x${'a'.repeat(40)}`;
  const plain = { to: TO, data: null, accessList: [], authorizationList: [] };
  const authorization = { chain_id: 0, address: TO, nonce: 0, y_parity: 0, r: '0x1', s: '0x1' };

  t.test('what each part costs', async (t) => {
    t.equal(intrinsicGas(plain), 21_000n);
    t.equal(intrinsicGas({ ...plain, to: null, data: '0x' }), 53_000n);
    t.equal(intrinsicGas({ ...plain, to: null, data: '0x0001' }), 53_022n, 'EIP-3860: 2 for the one word');
    t.equal(intrinsicGas({ ...plain, to: null, data: `0x${'00'.repeat(33)}` }), 53_000n + 33n * 4n + 4n);
    const accessList = [
      { address: TO, storage_keys: [] },
      { address: TO, storage_keys: ['0x', '0x'] },
    ];
    t.equal(intrinsicGas({ ...plain, accessList }), 21_000n + 2n * 2_400n + 2n * 1_900n);
    t.equal(intrinsicGas({ ...plain, authorizationList: [authorization, authorization] }), 71_000n);
  });

  t.test('much data costs its floor (EIP-7623), whatever it executes', async (t) => {
    t.equal(intrinsicGas({ ...plain, data: '0x0001' }), 21_050n, 'one token and four, at 10 each');
    t.equal(intrinsicGas({ ...plain, data: `0x${'ff'.repeat(1_000)}` }), 61_000n);
    t.equal(
      intrinsicGas({ ...plain, data: '0x01', authorizationList: [authorization] }),
      46_016n,
      'the floor counts only when it is more',
    );
  });

  t.test('call data as bytes, with or without its 0x', async (t) => {
    t.same(callData('0xAB01'), Buffer.from([0xab, 1]));
    t.same(callData('ab'), Buffer.from([0xab]));
    t.equal(callData(null).length, 0);
  });
});

t.test('rollup', async (t) => {
  const FROM = '0x00000000000000000000000000000000000000a1';
  const TO = '0x00000000000000000000000000000000000000b0';
  const ORACLE = '0x420000000000000000000000000000000000000F';

  const settingsOf = (tag: string): EvmNetworkSettings =>
    readNetworkSettings({ type: 'evm', name: 'rollup', rpcUrls: [], settings: { symbol: 'ETH', tags: [tag] } });
  const OPTIMISM = settingsOf('optimism-based');
  const ZKEVM = settingsOf('polygon-zkevm-based');

  const request: JsonObject = {
    to: TO,
    value: '0x5',
    data: '0xabcd0000',
    gas_limit: null,
    gas_price: null,
    max_fee_per_gas: null,
    max_priority_fee_per_gas: null,
    speed: 'fast',
  };
  const fields = {
    chain_id: 31_337,
    from: FROM,
    gas_limit: 50_000,
    max_fee_per_gas: 7_000,
    max_priority_fee_per_gas: 9,
  };
  const version: UnsignedAttempt = { request, fields, sequence: null, call: { from: FROM, to: TO, value: '0x5' } };

  /** The transaction as ethers writes it, with a nonce of the greatest length. */
  const unsigned = EthersTransaction.from({
    type: 2,
    chainId: 31_337,
    nonce: 0xffff_ffff,
    to: TO,
    value: 5,
    data: '0xabcd0000',
    gasLimit: 50_000,
    maxFeePerGas: 7_000,
    maxPriorityFeePerGas: 9,
  }).unsignedSerialized;
  const unsignedSize = BigInt(unsigned.length / 2 - 1);

  /** EVM code that returns 1000 times the length of its one `bytes` argument, whatever the selector is. */
  const BY_SIZE = '0x6024356103e8025f5260205ff3';

  /** EVM code that returns the given number for each of these selectors, and reverts for every other. */
  function oracleCode(figures: Readonly<Record<string, bigint>>): string {
    const cases = Object.entries(figures);
    const bodiesAt = 5 + 10 * cases.length + 3;
    const hex = (value: number | bigint, bytes: number) => value.toString(16).padStart(2 * bytes, '0');
    const jumps = cases.map(([selector], index) => `8063${selector}1460${hex(bodiesAt + 16 * index, 1)}57`);
    const bodies = cases.map(([, value]) => `5b67${hex(value, 8)}5f5260205ff3`);
    return `0x5f3560e01c${jumps.join('')}5f5ffd${bodies.join('')}`;
  }

  const ECOTONE = { '519b4bd3': 20_000_000_000n, c5985918: 1_368n, f8206140: 3_000_000n, '68d5dca6': 810_949n };

  t.test('the data fee of an OP chain, by the oracle’s contract', async (t) => {
    const anvil = await startAnvil();
    const rpc = openRpc([anvil.url]);
    t.teardown(() => Promise.all([rpc.close(), anvil.stop()]));
    const fee = (of = version) => rpc.onOne((read) => rollupDataFee(read, OPTIMISM, of));

    t.equal(await fee(), 0n, 'a chain without the contract');

    await anvil.rpc('anvil_setCode', [ORACLE, BY_SIZE]);
    t.equal(await fee(), unsignedSize * 1000n, 'the oracle gets the bytes that are going to be signed');
    t.equal(await fee({ ...version, sequence: 5n }), (unsignedSize - 4n) * 1000n, 'with the nonce, where there is one');

    await anvil.rpc('anvil_setCode', [ORACLE, oracleCode(ECOTONE)]);
    const bytes = [...Buffer.from(unsigned.slice(2), 'hex')];
    const gas = BigInt(bytes.reduce((sum, byte) => sum + (byte === 0 ? 4 : 16), 0)) + 68n * 16n;
    const scaled = 16n * 20_000_000_000n * 1_368n + 3_000_000n * 810_949n;
    t.equal(await fee(), (gas * scaled) / 16_000_000n, 'without getL1Fee by the figures of Ecotone');

    await anvil.rpc('anvil_setCode', [ORACLE, oracleCode({ ...ECOTONE, '275aedd2': 4_321n })]);
    t.equal(await fee(), (gas * scaled) / 16_000_000n + 4_321n, 'with what the operator takes');

    const { '68d5dca6': _, ...bedrock } = ECOTONE;
    await anvil.rpc('anvil_setCode', [ORACLE, oracleCode(bedrock)]);
    t.equal(await fee(), 0n, 'figures that are missing hold nothing up');
  });

  /** A reader over one double with this handler. */
  async function reading(t: { teardown(end: () => unknown): void }, handler: DoubleHandler) {
    const double = await startRpcDouble(handler);
    const rpc = openRpc([double.url]);
    t.teardown(() => Promise.all([rpc.close(), double.stop()]));
    const read: ReadFromEndpoint = (method, params, parse) => rpc.read(method, params, parse);
    return { read, double };
  }

  t.test('the operator’s fee is asked for the whole gas limit', async (t) => {
    const { read, double } = await reading(t, () => ({ result: `0x${'0'.repeat(63)}9` }));
    t.equal(await rollupDataFee(read, OPTIMISM, version), 18n);
    const asked = double.calls.map(({ params }) => String((params[0] as JsonObject)['data']));
    t.ok(asked.includes(`0x275aedd2${50_000n.toString(16).padStart(64, '0')}`));
  });

  t.test('an oracle that cannot be reached, or answers nonsense, is not free', async (t) => {
    for (const [answer, kind] of [
      ['hang-up', 'transport'],
      [{ error: { code: -32_000, message: 'header not found' } }, 'node'],
      [{ error: { code: -32_000, message: 'execution aborted (timeout = 5s)' } }, 'node'],
      [{ result: 7 as Json }, 'malformed'],
      [{ result: `0x${'f'.repeat(64)}` }, 'malformed'],
    ] as const) {
      const { read } = await reading(t, () => answer);
      t.match(await rollupDataFee(read, OPTIMISM, version).catch((error: unknown) => error), { kind });
    }
  });

  t.test('a zkEVM node’s figure counts where it is more than gas limit times price', async (t) => {
    const paid = 50_000n * 7_000n;
    const { read, double } = await reading(t, answersByMethod({ zkevm_estimateFee: `0x${(paid + 11n).toString(16)}` }));
    t.equal(await rollupDataFee(read, ZKEVM, version), 11n);
    t.same(double.calls[0]?.params, [version.call]);
    double.answer(answersByMethod({ zkevm_estimateFee: '0x1' }));
    t.equal(await rollupDataFee(read, ZKEVM, version), 0n);
    const legacy = { ...version, fields: { chain_id: 1, from: FROM, gas_limit: 10, gas_price: 10 } };
    double.answer(answersByMethod({ zkevm_estimateFee: '0x65' }));
    t.equal(await rollupDataFee(read, ZKEVM, legacy), 1n);
    for (const code of [-32_601, -32_004, 3]) {
      double.answer(() => ({ error: { code, message: 'no' } }));
      t.equal(await rollupDataFee(read, ZKEVM, version), 0n, `code ${code}`);
    }
    double.answer(() => ({ error: { code: -32_000, message: 'failed to fetch state: context canceled' } }));
    t.match(
      await rollupDataFee(read, ZKEVM, version).catch((error: unknown) => error),
      { kind: 'node' },
      'not known yet',
    );
    double.answer(() => ({ status: 503 }));
    t.match(await rollupDataFee(read, ZKEVM, version).catch((error: unknown) => error), { kind: 'http' });
  });

  t.test('a zkEVM node’s own price, or the usual one where it has none', async (t) => {
    const { read, double } = await reading(t, answersByMethod({ zkevm_estimateGasPrice: '0x9', eth_gasPrice: '0x7' }));
    t.equal(await zkEvmGasPrice(read), 9n);
    double.answer(answersByMethod({ zkevm_estimateGasPrice: 'cheap', eth_gasPrice: '0x7' }));
    t.equal(await zkEvmGasPrice(read), 7n, 'an answer that is no price');
    double.answer(answersByMethod({ eth_gasPrice: '0x7' }));
    t.equal(await zkEvmGasPrice(read), 7n, 'no such method');
    double.answer(() => 'hang-up');
    t.match(await zkEvmGasPrice(read).catch((error: unknown) => error), { kind: 'transport' });
  });

  t.test('elsewhere nothing is asked', async (t) => {
    const { read, double } = await reading(t, () => 'hang-up');
    t.equal(await rollupDataFee(read, settingsOf('arbitrum-based'), version), 0n);
    t.equal(double.calls.length, 0);
  });
});
