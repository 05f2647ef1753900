import t from 'tap';
import { readPolicy } from '../../../../../src/chains/evm/configuration/policy.ts';
import {
  baseFeeMultiplier,
  capPrice,
  capsOf,
  floorAbove,
  highestOf,
  laterPriceOf,
  minimumBump,
  mostPerGas,
  type Price,
  priceFields,
  priceOf,
  raiseTo,
  reaches,
} from '../../../../../src/chains/evm/fees.ts';
import type { Market } from '../../../../../src/chains/evm/price/market.ts';

const GWEI = 1_000_000_000n;
const HASH = `0x${'1'.repeat(64)}`;
const FREE = readPolicy({});

const market = (over: Partial<Market> = {}): Market => ({
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
  t.same(priceOf(speed('fast'), market(), FREE, 90_001), {
    kind: 'eip1559',
    maxFeePerGas: 10n * GWEI + 3n,
    maxPriorityFeePerGas: 3n,
  });
  const shares = { safeLow: 12n, average: 15n, fast: 18n, fastest: 24n };
  for (const [name, gwei] of Object.entries(shares)) {
    const asked = speed(name as keyof typeof shares);
    const legacy = { kind: 'legacy', gasPrice: gwei * GWEI };
    t.same(priceOf(asked, market({ tips: undefined }), FREE, 12_000), legacy, 'the network knows no other');
    t.same(priceOf(asked, market(), readPolicy({ eip1559_pricing: false }), 12_000), legacy, 'the policy says so');
  }
});

t.test('explicit prices are taken as they are', async (t) => {
  const legacy = { kind: 'legacy', gasPrice: 7n } as const;
  t.same(priceOf(legacy, market(), FREE, 12_000), legacy);
  const dynamic = { kind: 'eip1559', maxFeePerGas: 9n, maxPriorityFeePerGas: 8n } as const;
  t.same(priceOf(dynamic, market({ tips: undefined }), FREE, 12_000), dynamic);
});

t.test('the cap lowers, and the tip never exceeds the whole', async (t) => {
  const dynamic = { kind: 'eip1559', maxFeePerGas: 100n, maxPriorityFeePerGas: 50n } as const;
  t.same(capPrice(dynamic, null), dynamic);
  t.same(capPrice(dynamic, 60n), { ...dynamic, maxFeePerGas: 60n });
  t.same(capPrice(dynamic, 20n), { kind: 'eip1559', maxFeePerGas: 20n, maxPriorityFeePerGas: 20n });
  t.same(capPrice({ kind: 'legacy', gasPrice: 100n }, 20n), { kind: 'legacy', gasPrice: 20n });
  t.equal(mostPerGas(dynamic), 100n);
  t.equal(mostPerGas({ kind: 'legacy', gasPrice: 3n }), 3n);
});

t.test('a network that asks for more than the cap is noticed', async (t) => {
  t.equal(floorAbove(null, market()), undefined);
  t.equal(floorAbove(10n * GWEI, market()), undefined);
  t.equal(floorAbove(10n * GWEI - 1n, market()), 10n * GWEI);
  const legacy = market({ block: { ...market().block, baseFeePerGas: null } });
  t.equal(floorAbove(11n * GWEI, legacy), 12n * GWEI);
});

const legacy = (gasPrice: bigint): Price => ({ kind: 'legacy', gasPrice });
const dynamic = (maxFeePerGas: bigint, maxPriorityFeePerGas: bigint): Price => ({
  kind: 'eip1559',
  maxFeePerGas,
  maxPriorityFeePerGas,
});

t.test('a later version follows the market in the kind of its request', async (t) => {
  const speed = { kind: 'speed', speed: 'fastest' } as const;
  t.same(laterPriceOf(speed, market(), FREE, 90_001), dynamic(10n * GWEI + 4n, 4n));
  t.same(laterPriceOf({ kind: 'legacy', gasPrice: 1n }, market(), FREE, 90_001), legacy(18n * GWEI), 'fast');
  const given = { kind: 'eip1559', maxFeePerGas: 9n, maxPriorityFeePerGas: 8n } as const;
  t.same(laterPriceOf(given, market(), FREE, 90_001), dynamic(10n * GWEI + 3n, 3n), 'fast');
  t.same(laterPriceOf(given, market({ tips: undefined }), FREE, 90_001), given, 'nothing to follow');
});

t.test('the highest of all versions, and a legacy price counts as both', async (t) => {
  const version = (price: Price) => ({ chain_id: 1, from: '0x', gas_limit: 1, ...priceFields(price) });
  t.equal(highestOf([]), undefined);
  t.same(highestOf([version(dynamic(100n, 3n)), version(dynamic(90n, 5n))]), { fee: 100n, tip: 5n });
  t.same(highestOf([version(legacy(70n)), version(dynamic(100n, 3n))]), { fee: 100n, tip: 70n });
  t.same(highestOf([{ chain_id: 1, from: '0x', gas_limit: 1 }]), { fee: 0n, tip: 0n });
  const huge = 1n << 140n;
  t.same(highestOf([version(legacy(huge))]), capsOf(legacy(huge)), 'exact beyond a double');
});

t.test('a tenth more, rounded down, and one wei at least', async (t) => {
  t.same(minimumBump({ fee: 100n, tip: 10n }), { fee: 110n, tip: 11n });
  t.same(minimumBump({ fee: 1_000_000_007n, tip: 19n }), { fee: 1_100_000_007n, tip: 20n });
  t.same(minimumBump({ fee: 9n, tip: 0n }), { fee: 10n, tip: 1n });
});

t.test('a price is raised in both caps, and room for the base fee stays', async (t) => {
  t.same(raiseTo(dynamic(100n, 5n), { fee: 90n, tip: 4n }), dynamic(100n, 5n), 'dear enough');
  t.same(raiseTo(dynamic(100n, 5n), { fee: 90n, tip: 25n }), dynamic(120n, 25n));
  t.same(raiseTo(dynamic(100n, 5n), { fee: 200n, tip: 25n }), dynamic(200n, 25n));
  t.same(raiseTo(legacy(100n), { fee: 90n, tip: 25n }), legacy(100n));
  t.same(raiseTo(legacy(10n), { fee: 90n, tip: 25n }), legacy(90n));
  t.ok(reaches(dynamic(200n, 25n), { fee: 200n, tip: 25n }));
  t.notOk(reaches(dynamic(200n, 24n), { fee: 200n, tip: 25n }));
  t.notOk(reaches(dynamic(199n, 25n), { fee: 200n, tip: 25n }));
  t.ok(reaches(legacy(200n), { fee: 200n, tip: 25n }));
});
