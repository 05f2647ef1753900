import t from 'tap';
import type { Market } from '../../../../../../src/chains/evm/price/market.ts';
import { createPriceGuard } from '../../../../../../src/chains/evm/price/price-guard.ts';

const GWEI = 1_000_000_000n;

/** A market with this gas price in gwei. */
function market(gwei: bigint, over: { gasLimit?: bigint; legacy?: boolean; tip?: bigint } = {}): Market {
  const { gasLimit = 30_000_000n, legacy = false, tip = 1n } = over;
  const baseFeePerGas = legacy ? null : gwei * GWEI;
  return {
    block: { number: 1n, hash: `0x${'1'.repeat(64)}`, gasLimit, baseFeePerGas },
    gasPrice: gwei * GWEI,
    tips: legacy ? undefined : { safeLow: 1n, average: 1n, fast: 1n, fastest: tip },
  };
}

/** Nodes whose markets the test sets, and a clock that the test moves. */
function world(...nodes: Market[]) {
  let now = 0;
  let asked = 0;
  const state = { nodes };
  const one = async () => {
    asked += 1;
    const [first] = state.nodes;
    if (first === undefined) throw new Error('nobody answers');
    return first;
  };
  const believe = createPriceGuard({ now: () => now, elapsed: () => now }, { one, all: async () => state.nodes });
  return {
    believe,
    price: async (of: 'one' | 'all' = 'one') => {
      const { gasPrice, doubt } = await believe(of);
      return doubt === undefined ? gasPrice / GWEI : doubt;
    },
    say: (...said: Market[]) => {
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
  t.match(await world(market(2n, { legacy: true }), market(2n, { legacy: true })).believe('all'), { tips: undefined });
});

t.test('where not all answer in time, one is enough', async (t) => {
  const { price, say } = world();
  await t.rejects(price(), /nobody answers/);
  const only = createPriceGuard(
    { now: () => 0, elapsed: () => 0 },
    { one: async () => market(4n), all: async () => [] },
  );
  t.match(await only('one'), { gasPrice: 4n * GWEI });
  say(market(4n));
  t.equal(await price('all'), 4n);
});
