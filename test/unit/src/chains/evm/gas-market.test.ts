import t from 'tap';
import {
  cachedFor,
  createGasMarket,
  freshShared,
  type GasMarket,
  readGasMarket,
  staleWhileRevalidate,
} from '../../../../../src/chains/evm/price/gas-market.ts';
import { createPriceCorroboration } from '../../../../../src/chains/evm/price/price-corroboration.ts';
import type { Clock } from '../../../../../src/domain/clock.ts';
import type { ReadFromEndpoint } from '../../../../../src/egress/rpc/rpc-client.ts';
import { openRpc } from '../../../../support/evm.ts';
import { answersByMethod, type DoubleAnswer, startRpcDouble } from '../../../../support/rpc-double.ts';

t.test('market', async (t) => {
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
    const read: ReadFromEndpoint = (method, params, parse) => rpc.read(method, params, parse);

    t.same(
      await readGasMarket(read, OPEN),
      {
        block: { number: 5n, hash: HASH, gasLimit: 30_000_000n, baseFeePerGas: GWEI },
        gasPrice: 2n * GWEI,
        tips: { safeLow: 150n, average: GWEI / 2n, fast: 200n, fastest: (GWEI * 99n) / 100n },
      },
      'the mean of what was paid, and hundredths of a gwei where nobody paid',
    );
    const asked = double.calls.find(({ method }) => method === 'eth_feeHistory');
    t.match(asked?.params, ['0x4', 'latest', [30, 50, 85, 99]]);
    t.match(await readGasMarket(read, { ...OPEN, hasEip1559: false }), { tips: undefined });

    const usual = { tips: { safeLow: (GWEI * 30n) / 100n } };
    double.answer(answersByMethod({ eth_getBlockByNumber: BLOCK, eth_gasPrice: '0x1', eth_feeHistory: {} }));
    t.match(await readGasMarket(read, { ...OPEN, hasEip1559: true }), usual, 'no rewards at all');
    double.answer(answersByMethod({ eth_getBlockByNumber: BLOCK, eth_gasPrice: '0x1' }));
    t.match(await readGasMarket(read, OPEN), usual, 'a node that keeps no history');
    const { baseFeePerGas: _, ...old } = BLOCK;
    double.answer(answersByMethod({ eth_getBlockByNumber: old, eth_gasPrice: '0x1' }));
    t.match(
      await readGasMarket(read, OPEN),
      { block: { baseFeePerGas: null }, tips: undefined },
      'a block shows the lack',
    );

    const absurd = `0x${'f'.repeat(64)}`;
    double.answer(answersByMethod({ eth_getBlockByNumber: BLOCK, eth_gasPrice: absurd, eth_feeHistory: {} }));
    const failure = await readGasMarket(read, OPEN).catch((error: unknown) => error);
    t.match(failure, { kind: 'malformed' }, 'a price that no chain ever had');
  });

  t.test('where there were tips lately, all is asked at once', async (t) => {
    const answers = { eth_getBlockByNumber: BLOCK, eth_gasPrice: '0x77359400' };
    const double = await startRpcDouble(answersByMethod({ ...answers, eth_maxPriorityFeePerGas: '0x5d21dba00' }));
    const rpc = openRpc([double.url]);
    t.teardown(() => Promise.all([rpc.close(), double.stop()]));
    const read: ReadFromEndpoint = (method, params, parse) => rpc.read(method, params, parse);
    const requests = async (hadTips: boolean) => {
      const before = double.requests.length;
      const { tips } = await readGasMarket(read, OPEN, undefined, hadTips);
      return { tips, requests: double.requests.length - before };
    };
    t.match(await requests(false), { tips: { fast: 25n * GWEI }, requests: 2 });
    t.match(await requests(true), { tips: { fast: 25n * GWEI }, requests: 1 });
    const { baseFeePerGas: _, ...old } = BLOCK;
    double.answer(answersByMethod({ ...answers, eth_getBlockByNumber: old }));
    t.match(await requests(true), { tips: undefined, requests: 1 }, 'they are gone');
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
        const market = await rpc.onOne((read) => readGasMarket(read, { ...OPEN, hasEip1559 }));
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
    const tips = async () => (await rpc.onOne((read) => readGasMarket(read, OPEN))).tips;
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
    const market = await rpc.onOne((read) => readGasMarket(read, OPEN));
    t.strictSame(market.tips, { safeLow: 0n, average: 0n, fast: 0n, fastest: 0n });
  });

  t.test('a zkEVM node’s own price comes first', async (t) => {
    const usual = { eth_getBlockByNumber: BLOCK, eth_gasPrice: '0x7' };
    const double = await startRpcDouble(answersByMethod({ ...usual, zkevm_estimateGasPrice: '0x9' }));
    const rpc = openRpc([double.url]);
    t.teardown(() => Promise.all([rpc.close(), double.stop()]));
    const settings = { hasEip1559: false, isZkEvm: true };
    const priceNow = async () => (await rpc.onOne((read) => readGasMarket(read, settings))).gasPrice;

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
    const get = staleWhileRevalidate(BOUNDS, clock, load);

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
    const get = staleWhileRevalidate(BOUNDS, clock, load);
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
    const get = staleWhileRevalidate(BOUNDS, clock, load);
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
    const get = staleWhileRevalidate({ staleAfterMs: 100, expireAfterMs: 1_000_000 }, clock, load);
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
    const get = staleWhileRevalidate(BOUNDS, clock, load);
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
    const load = async (): Promise<GasMarket> => {
      asked += 1;
      const block = { number: 1n, hash: HASH, gasLimit: 1n, baseFeePerGas: null };
      return { block, gasPrice: BigInt(asked), tips: undefined };
    };
    const priceBy = async (reading: ReturnType<typeof createGasMarket>, freshness?: 'fresh') =>
      (await reading(freshness)).gasPrice;

    const brief = createGasMarket({ averageBlocktimeMs: 400, gasPriceCache: null }, clock, load);
    t.equal(await priceBy(brief), 1n);
    wait(99);
    t.equal(await priceBy(brief), 1n);
    t.equal(await priceBy(brief, 'fresh'), 2n);
    wait(1);
    t.equal(await priceBy(brief), 3n);

    const cached = createGasMarket({ averageBlocktimeMs: 400, gasPriceCache: BOUNDS }, clock, load);
    t.equal(await priceBy(cached), 4n);
    wait(99);
    t.equal(await priceBy(cached), 4n);
    t.equal(await priceBy(cached, 'fresh'), 5n);
  });

  t.test('a market in doubt is not kept, and all nodes are asked on demand', async (t) => {
    const { clock } = bench();
    const asked: string[] = [];
    const block = { number: 1n, hash: HASH, gasLimit: 1n, baseFeePerGas: null };
    const load = async (of: 'one' | 'all'): Promise<GasMarket> => {
      asked.push(of);
      const market = { block, gasPrice: BigInt(asked.length), tips: undefined };
      return asked.length === 1 ? { ...market, doubt: 'once' } : market;
    };
    const reading = createGasMarket({ averageBlocktimeMs: 400, gasPriceCache: BOUNDS }, clock, load);
    t.match(await reading(), { gasPrice: 2n, doubt: undefined }, 'asked again at once');
    t.match(await reading('all'), { gasPrice: 3n });
    t.same(asked, ['one', 'one', 'all']);
  });
});

t.test('single flight', async (t) => {
  class ManualClock implements Clock {
    time = 0;
    now(): number {
      return this.time;
    }
    elapsed(): number {
      return this.time;
    }
  }

  /** Loads that the test ends. */
  function controlled() {
    const loads: PromiseWithResolvers<number>[] = [];
    const load = () => {
      const next = Promise.withResolvers<number>();
      loads.push(next);
      return next.promise;
    };
    return { loads, load };
  }

  t.test('a burst loads once, and again when the value is old', async (t) => {
    const clock = new ManualClock();
    const { loads, load } = controlled();
    const get = cachedFor(100, clock, load);
    const burst = [get(), get(), get()];
    loads[0]?.resolve(1);
    t.same(await Promise.all(burst), [1, 1, 1]);
    clock.time = 99;
    t.equal(await get(), 1);
    clock.time = 100;
    const later = get();
    loads[1]?.resolve(2);
    t.equal(await later, 2);
    t.equal(loads.length, 2);
  });

  t.test('a failure is not remembered', async (t) => {
    const { loads, load } = controlled();
    const get = cachedFor(100, new ManualClock(), load);
    const failing = [get(), get()];
    loads[0]?.reject(new Error('down'));
    for (const call of failing) await t.rejects(call, { message: 'down' });
    const next = get();
    loads[1]?.resolve(3);
    t.equal(await next, 3);
  });

  t.test('nobody gets the result of a load that began before the question', async (t) => {
    const { loads, load } = controlled();
    const get = freshShared(load);
    const first = get('a');
    const second = get('a');
    const third = get('a');
    t.equal(loads.length, 1, 'those who come later wait');
    loads[0]?.resolve(1);
    t.equal(await first, 1);
    await new Promise((resolve) => setImmediate(resolve));
    t.equal(loads.length, 2, 'and then share one load');
    loads[1]?.resolve(2);
    t.same(await Promise.all([second, third]), [2, 2]);
    const fourth = get('a');
    loads[2]?.resolve(4);
    t.equal(await fourth, 4);
  });

  t.test('a failed load holds up nobody, and keys do not meet', async (t) => {
    const { loads, load } = controlled();
    const get = freshShared(load);
    const failing = get('a');
    const waiting = get('a');
    const other = get('b');
    t.equal(loads.length, 2);
    loads[0]?.reject(new Error('down'));
    await t.rejects(failing, { message: 'down' });
    await new Promise((resolve) => setImmediate(resolve));
    loads[1]?.resolve(7);
    loads[2]?.resolve(8);
    t.equal(await other, 7);
    t.equal(await waiting, 8);
  });
});

t.test('price guard', async (t) => {
  const GWEI = 1_000_000_000n;

  /** A market with this gas price in gwei. */
  function market(gwei: bigint, over: { gasLimit?: bigint; legacy?: boolean; tip?: bigint } = {}): GasMarket {
    const { gasLimit = 30_000_000n, legacy = false, tip = 1n } = over;
    const baseFeePerGas = legacy ? null : gwei * GWEI;
    return {
      block: { number: 1n, hash: `0x${'1'.repeat(64)}`, gasLimit, baseFeePerGas },
      gasPrice: gwei * GWEI,
      tips: legacy ? undefined : { safeLow: 1n, average: 1n, fast: 1n, fastest: tip },
    };
  }

  /** Nodes whose markets the test sets, and a clock that the test moves. */
  function world(...nodes: GasMarket[]) {
    let now = 0;
    let asked = 0;
    const state = { nodes };
    const one = async () => {
      asked += 1;
      const [first] = state.nodes;
      if (first === undefined) throw new Error('nobody answers');
      return first;
    };
    const believe = createPriceCorroboration(
      { now: () => now, elapsed: () => now },
      { one, all: async () => state.nodes },
    );
    return {
      believe,
      price: async (of: 'one' | 'all' = 'one') => {
        const { gasPrice, doubt } = await believe(of);
        return doubt === undefined ? gasPrice / GWEI : doubt;
      },
      say: (...said: GasMarket[]) => {
        state.nodes = said;
      },
      wait: (ms: number) => {
        now += ms;
      },
      asked: () => asked,
    };
  }

  t.test('the first market is the middle of all, the lower of two', async (t) => {
    t.equal(await world(market(100_000_000n), market(2n)).price(), 2n);
    t.equal(await world(market(3n), market(100_000_000n), market(2n)).price(), 3n);
    t.equal(await world(market(7n)).price(), 7n);
    const { price, asked } = world(market(7n));
    await price();
    t.equal(asked(), 0, 'asked once');
  });

  t.test('what is within reason needs no second word', async (t) => {
    const { price, say, asked } = world(market(2n), market(2n));
    await price();
    say(market(20n), market(2n));
    t.equal(await price(), 20n);
    t.equal(asked(), 1);
    say(market(201n), market(2n));
    t.equal(await price(), 2n, 'beyond it the other node counts');
    say(market(2_000n), market(2_000n));
    t.equal(await price(), 2_000n, 'unless it says so too');
  });

  t.test('an only node has to repeat a leap some seconds later', async (t) => {
    const { believe, price, say, wait } = world(market(2n));
    await price();
    say(market(1_000n));
    const doubted = await believe('one');
    t.match(doubted, {
      gasPrice: 2n * GWEI,
      doubt: /^The only endpoint that answers tells of a price of 1000000000001 wei per gas, after 2000000001 before/,
    });
    wait(4_999);
    t.type(await price(), 'string', 'too soon');
    wait(1);
    t.equal(await price(), 1_000n);
  });

  t.test('an ordinary answer in between ends the suspicion', async (t) => {
    const { price, say, wait } = world(market(2n));
    await price();
    say(market(1_000n));
    t.type(await price(), 'string');
    say(market(2n));
    t.equal(await price(), 2n);
    say(market(1_000n));
    wait(10_000);
    t.type(await price(), 'string');
  });

  t.test('a tip that leaps is a leap', async (t) => {
    const dear = market(2n, { tip: 1_000n * GWEI });
    const only = world(market(2n));
    await only.price();
    only.say(dear);
    t.type(await only.price(), 'string');
    const two = world(market(2n), market(2n));
    await two.price();
    two.say(dear, market(2n));
    t.match(await two.believe('one'), { tips: { fastest: 1n }, doubt: undefined });
    const first = world(dear, market(2n));
    t.match(await first.believe('one'), { tips: { fastest: 1n } }, 'of two the lower, the first time');
  });

  t.test('a second look prefers EIP-1559 and the higher gas limit', async (t) => {
    const { believe } = world(market(2n, { legacy: true, gasLimit: 20_000n }), market(3n));
    t.match(await believe('all'), { gasPrice: 3n * GWEI, block: { gasLimit: 30_000_000n } });
    t.match(await world(market(2n, { legacy: true }), market(2n, { legacy: true })).believe('all'), {
      tips: undefined,
    });
  });

  t.test('where not all answer in time, one is enough', async (t) => {
    const { price, say } = world();
    await t.rejects(price(), /nobody answers/);
    const only = createPriceCorroboration(
      { now: () => 0, elapsed: () => 0 },
      { one: async () => market(4n), all: async () => [] },
    );
    t.match(await only('one'), { gasPrice: 4n * GWEI });
    say(market(4n));
    t.equal(await price('all'), 4n);
  });
});
