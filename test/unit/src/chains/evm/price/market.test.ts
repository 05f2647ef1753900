import t from 'tap';
import { type Market, openMarket, readMarket, servedStale } from '../../../../../../src/chains/evm/price/market.ts';
import type { Clock } from '../../../../../../src/domain/clock.ts';
import type { ReadOne } from '../../../../../../src/egress/rpc/rpc-client.ts';
import { openRpc } from '../../../../../support/evm.ts';
import { answersByMethod, type DoubleAnswer, startRpcDouble } from '../../../../../support/rpc-double.ts';

const GWEI = 1_000_000_000n;
const HASH = `0x${'1'.repeat(64)}`;
const BLOCK = { number: '0x5', hash: HASH, gasLimit: '0x1c9c380', baseFeePerGas: '0x3b9aca00' };
const OPEN = { hasEip1559: null, isZkEvm: false };

t.test('the market by a node’s answers', async (t) => {
  const reward = [['0x64', '0x0', '0xc8', '0x0'], ['0xc8', null, '0x0'], [], null];
  const double = await startRpcDouble(
    answersByMethod({ eth_getBlockByNumber: BLOCK, eth_gasPrice: '0x77359400', eth_feeHistory: { reward } }),
  );
  const rpc = openRpc([double.url]);
  t.teardown(() => Promise.all([rpc.close(), double.stop()]));
  const read: ReadOne = (method, params, parse) => rpc.read(method, params, parse);

  t.same(
    await readMarket(read, OPEN),
    {
      block: { number: 5n, hash: HASH, gasLimit: 30_000_000n, baseFeePerGas: GWEI },
      gasPrice: 2n * GWEI,
      tips: { safeLow: 150n, average: GWEI / 2n, fast: 200n, fastest: (GWEI * 99n) / 100n },
    },
    'the mean of what was paid, and hundredths of a gwei where nobody paid',
  );
  const asked = double.calls.find(({ method }) => method === 'eth_feeHistory');
  t.match(asked?.params, ['0x4', 'latest', [30, 50, 85, 99]]);
  t.match(await readMarket(read, { ...OPEN, hasEip1559: false }), { tips: undefined });

  const usual = { tips: { safeLow: (GWEI * 30n) / 100n } };
  double.answer(answersByMethod({ eth_getBlockByNumber: BLOCK, eth_gasPrice: '0x1', eth_feeHistory: {} }));
  t.match(await readMarket(read, { ...OPEN, hasEip1559: true }), usual, 'no rewards at all');
  double.answer(answersByMethod({ eth_getBlockByNumber: BLOCK, eth_gasPrice: '0x1' }));
  t.match(await readMarket(read, OPEN), usual, 'a node that keeps no history');
  const { baseFeePerGas: _, ...old } = BLOCK;
  double.answer(answersByMethod({ eth_getBlockByNumber: old, eth_gasPrice: '0x1' }));
  t.match(await readMarket(read, OPEN), { block: { baseFeePerGas: null }, tips: undefined }, 'a block shows the lack');

  const absurd = `0x${'f'.repeat(64)}`;
  double.answer(answersByMethod({ eth_getBlockByNumber: BLOCK, eth_gasPrice: absurd, eth_feeHistory: {} }));
  const failure = await readMarket(read, OPEN).catch((error: unknown) => error);
  t.match(failure, { kind: 'malformed' }, 'a price that no chain ever had');
});

t.test('tips are only advice: whatever keeps a node from telling them stops nothing', async (t) => {
  const answers = { eth_getBlockByNumber: BLOCK, eth_gasPrice: '0x77359400' };
  const double = await startRpcDouble(answersByMethod(answers));
  const rpc = openRpc([double.url]);
  t.teardown(() => Promise.all([rpc.close(), double.stop()]));
  const saying = (code: number, message: string): DoubleAnswer => ({ error: { code, message } });
  for (const answer of [
    saying(-32_600, 'Unsupported method: eth_feeHistory on XYZ_MAINNET'),
    saying(-32_603, 'Method eth_feeHistory is not supported'),
    saying(-32_000, 'the method eth_feeHistory does not exist/is not available'),
    saying(-32_000, 'failed to get transaction receipts for block: not found'),
    { status: 403 } as const,
    { result: null },
    { result: { reward: [['-0xfd', '-0xfd', '-0xfd', '-0xfd']] } },
    { result: { reward: [[5, 5, 5, 5]] } },
  ]) {
    for (const hasEip1559 of [null, true]) {
      double.answer(answersByMethod(answers, () => answer));
      const market = await rpc.onOne((read) => readMarket(read, { ...OPEN, hasEip1559 }));
      t.match(
        market,
        { tips: { fast: GWEI, safeLow: GWEI } },
        `what the price leaves above the base fee: ${JSON.stringify(answer)}`,
      );
    }
    t.match(rpc.endpoints(), [{ state: 'ready' }]);
  }
});

t.test('the node’s own suggestion counts where it is higher than what blocks paid, but for the slow', async (t) => {
  const history = { reward: [['0x64', '0x64', '0x64', '0x64']] };
  const answers = { eth_getBlockByNumber: BLOCK, eth_gasPrice: '0x77359400', eth_feeHistory: history };
  const double = await startRpcDouble(answersByMethod({ ...answers, eth_maxPriorityFeePerGas: '0x5d21dba00' }));
  const rpc = openRpc([double.url]);
  t.teardown(() => Promise.all([rpc.close(), double.stop()]));
  const tips = async () => (await rpc.onOne((read) => readMarket(read, OPEN))).tips;
  t.match(await tips(), { safeLow: 100n, average: 25n * GWEI, fast: 25n * GWEI, fastest: 25n * GWEI });
  double.answer(answersByMethod({ ...answers, eth_maxPriorityFeePerGas: '0x0' }));
  t.match(await tips(), { safeLow: 100n, fastest: 100n });
  double.answer(answersByMethod({ ...answers, eth_feeHistory: {}, eth_maxPriorityFeePerGas: '0x5d21dba00' }));
  t.match(await tips(), { safeLow: 25n * GWEI, fast: 25n * GWEI }, 'nobody paid');
});

t.test('a network that charges nothing gets nothing', async (t) => {
  const free = { ...BLOCK, baseFeePerGas: '0x0' };
  const answers = { eth_getBlockByNumber: free, eth_gasPrice: '0x0', eth_maxPriorityFeePerGas: '0x3b9aca00' };
  const double = await startRpcDouble(answersByMethod({ ...answers, eth_feeHistory: { reward: [['0x0']] } }));
  const rpc = openRpc([double.url]);
  t.teardown(() => Promise.all([rpc.close(), double.stop()]));
  const market = await rpc.onOne((read) => readMarket(read, OPEN));
  t.strictSame(market.tips, { safeLow: 0n, average: 0n, fast: 0n, fastest: 0n });
});

t.test('a zkEVM node’s own price comes first', async (t) => {
  const usual = { eth_getBlockByNumber: BLOCK, eth_gasPrice: '0x7' };
  const double = await startRpcDouble(answersByMethod({ ...usual, zkevm_estimateGasPrice: '0x9' }));
  const rpc = openRpc([double.url]);
  t.teardown(() => Promise.all([rpc.close(), double.stop()]));
  const settings = { hasEip1559: false, isZkEvm: true };
  const priceNow = async () => (await rpc.onOne((read) => readMarket(read, settings))).gasPrice;

  t.equal(await priceNow(), 9n);
  t.notOk(double.calls.some(({ method }) => method === 'eth_gasPrice'));
  for (const code of [-32_601, -32_004, -32_000]) {
    double.answer(answersByMethod(usual, () => ({ error: { code, message: 'no' } })));
    t.equal(await priceNow(), 7n, `code ${code}`);
  }
  double.answer(answersByMethod({ ...usual, zkevm_estimateGasPrice: 'cheap' }));
  t.equal(await priceNow(), 7n, 'an answer that is no price');
  double.answer(() => 'hang-up');
  t.match(await priceNow().catch((error: unknown) => error), { kind: 'transport' });
});

/** A clock that the test sets, and loads that the test ends. */
function bench() {
  let now = 1_000;
  const clock: Clock = { now: () => now, elapsed: () => now };
  const loads: { end(value: number): Promise<void>; fail(): Promise<void> }[] = [];
  const load = () => {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const settled = promise.then(
      () => {},
      () => {},
    );
    loads.push({
      end: (value) => {
        resolve(value);
        return settled;
      },
      fail: () => {
        reject(new Error('no market'));
        return settled;
      },
    });
    return promise;
  };
  const wait = (ms: number) => {
    now += ms;
  };
  return { clock, load, loads, wait };
}

const BOUNDS = { staleAfterMs: 100, expireAfterMs: 300 };

t.test('fresh is served, stale is served and renewed, expired is waited for', async (t) => {
  const { clock, load, loads, wait } = bench();
  const get = servedStale(BOUNDS, clock, load);

  const first = [get(), get()];
  t.equal(loads.length, 1, 'callers share the load');
  await loads[0]?.end(1);
  t.same(await Promise.all(first), [1, 1]);
  wait(99);
  t.equal(await get(), 1);
  t.equal(loads.length, 1);

  wait(1);
  t.same(await Promise.all([get(), get(), get()]), [1, 1, 1], 'nobody waits for the refresh');
  t.equal(loads.length, 2, 'one refresh at a time');
  await loads[1]?.end(2);
  t.equal(await get(), 2);

  wait(300);
  const late = get();
  t.equal(loads.length, 3);
  await loads[2]?.end(3);
  t.equal(await late, 3, 'what has expired is never served');
  t.equal(await get(), 3, 'and the new is kept');
});

t.test('the age counts from the question, not from the answer', async (t) => {
  const { clock, load, loads, wait } = bench();
  const get = servedStale(BOUNDS, clock, load);
  const slow = get();
  wait(299);
  await loads[0]?.end(1);
  t.equal(await slow, 1);
  wait(1);
  const next = get();
  t.equal(loads.length, 2);
  await loads[1]?.end(2);
  t.equal(await next, 2);
});

t.test('a refresh that fails is tried again until the value expires, then its failure shows', async (t) => {
  const { clock, load, loads, wait } = bench();
  const get = servedStale(BOUNDS, clock, load);
  const first = get();
  await loads[0]?.end(1);
  await first;
  wait(150);
  t.equal(await get(), 1);
  await loads[1]?.fail();
  t.equal(await get(), 1);
  t.equal(loads.length, 3, 'the next caller starts another');
  await loads[2]?.fail();
  wait(150);
  const late = get();
  await loads[3]?.fail();
  await t.rejects(late, /no market/);
  const again = get();
  await loads[4]?.end(5);
  t.equal(await again, 5, 'a failure is not remembered');
});

t.test('a stuck refresh is given up, however many callers come meanwhile', async (t) => {
  const { clock, load, loads, wait } = bench();
  const get = servedStale({ staleAfterMs: 100, expireAfterMs: 1_000_000 }, clock, load);
  const first = get();
  await loads[0]?.end(1);
  await first;
  wait(100);
  for (let ms = 0; ms < 30_000; ms += 100) {
    t.equal(await get(), 1);
    wait(100);
  }
  t.equal(loads.length, 2);
  await get();
  t.equal(loads.length, 3, 'after its bound another one is started');
  await loads[2]?.end(3);
  t.equal(await get(), 3);
  await loads[1]?.end(2);
  t.equal(await get(), 3, 'the one that was given up does not turn the clock back');
});

t.test('a load that is stuck is not joined after what it may be old', async (t) => {
  const { clock, load, loads, wait } = bench();
  const get = servedStale(BOUNDS, clock, load);
  const stuck = get();
  wait(300);
  const other = get();
  t.equal(loads.length, 2);
  await loads[1]?.end(2);
  t.equal(await other, 2);
  await loads[0]?.end(1);
  t.equal(await stuck, 1);
  t.equal(await get(), 2);
});

t.test('without a cache a price is a quarter of a block old at most, and fresh is always asked for', async (t) => {
  const { clock, wait } = bench();
  let asked = 0;
  const load = async (): Promise<Market> => {
    asked += 1;
    const block = { number: 1n, hash: HASH, gasLimit: 1n, baseFeePerGas: null };
    return { block, gasPrice: BigInt(asked), tips: undefined };
  };
  const priceBy = async (reading: ReturnType<typeof openMarket>, freshness?: 'fresh') =>
    (await reading(freshness)).gasPrice;

  const brief = openMarket({ averageBlocktimeMs: 400, gasPriceCache: null }, clock, load);
  t.equal(await priceBy(brief), 1n);
  wait(99);
  t.equal(await priceBy(brief), 1n);
  t.equal(await priceBy(brief, 'fresh'), 2n);
  wait(1);
  t.equal(await priceBy(brief), 3n);

  const cached = openMarket({ averageBlocktimeMs: 400, gasPriceCache: BOUNDS }, clock, load);
  t.equal(await priceBy(cached), 4n);
  wait(99);
  t.equal(await priceBy(cached), 4n);
  t.equal(await priceBy(cached, 'fresh'), 5n);
});

t.test('a market in doubt is not kept, and all nodes are asked on demand', async (t) => {
  const { clock } = bench();
  const asked: string[] = [];
  const block = { number: 1n, hash: HASH, gasLimit: 1n, baseFeePerGas: null };
  const load = async (of: 'one' | 'all'): Promise<Market> => {
    asked.push(of);
    const market = { block, gasPrice: BigInt(asked.length), tips: undefined };
    return asked.length === 1 ? { ...market, doubt: 'once' } : market;
  };
  const reading = openMarket({ averageBlocktimeMs: 400, gasPriceCache: BOUNDS }, clock, load);
  t.match(await reading(), { gasPrice: 2n, doubt: undefined }, 'asked again at once');
  t.match(await reading('all'), { gasPrice: 3n });
  t.same(asked, ['one', 'one', 'all']);
});
