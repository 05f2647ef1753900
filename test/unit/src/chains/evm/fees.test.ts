import t from 'tap';
import {
  baseFeeMultiplier,
  capPrice,
  floorAbove,
  type Market,
  mostPerGas,
  priceOf,
  readMarket,
} from '../../../../../src/chains/evm/fees.ts';
import { readPolicy } from '../../../../../src/chains/evm/policy.ts';
import type { ReadOne } from '../../../../../src/egress/rpc-client.ts';
import { openRpc } from '../../../../support/evm.ts';
import { answersByMethod, startRpcDouble } from '../../../../support/rpc-double.ts';

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

t.test('the market by a node’s answers', async (t) => {
  const block = { number: '0x5', hash: HASH, gasLimit: '0x1c9c380', baseFeePerGas: '0x3b9aca00' };
  const reward = [['0x64', '0x0', '0xc8', '0x0'], ['0xc8', '0x0', '0x0'], [], null];
  const double = await startRpcDouble(
    answersByMethod({ eth_getBlockByNumber: block, eth_gasPrice: '0x77359400', eth_feeHistory: { reward } }),
  );
  const rpc = openRpc([double.url]);
  t.teardown(() => Promise.all([rpc.close(), double.stop()]));
  const read: ReadOne = (method, params, parse) => rpc.read(method, params, parse);

  t.same(
    await readMarket(read, null),
    {
      block: { number: 5n, hash: HASH, gasLimit: 30_000_000n, baseFeePerGas: GWEI },
      gasPrice: 2n * GWEI,
      tips: {
        safeLow: 150n,
        average: GWEI / 2n,
        fast: 200n,
        fastest: (GWEI * 99n) / 100n,
      },
    },
    'the mean of what was paid, and hundredths of a gwei where nobody paid',
  );
  t.match(double.calls.at(-1)?.params, ['0x4', 'latest', [30, 50, 85, 99]]);

  t.match(await readMarket(read, false), { tips: undefined });
  double.answer(answersByMethod({ eth_getBlockByNumber: block, eth_gasPrice: '0x1', eth_feeHistory: {} }));
  t.match(await readMarket(read, true), { tips: { safeLow: (GWEI * 30n) / 100n } }, 'no rewards at all');
  const { baseFeePerGas: _, ...old } = block;
  double.answer(answersByMethod({ eth_getBlockByNumber: old, eth_gasPrice: '0x1' }));
  t.match(await readMarket(read, null), { block: { baseFeePerGas: null }, tips: undefined }, 'a block shows the lack');
});
