import t from 'tap';
import { createBelief } from '../../../../../src/chains/evm/belief.ts';
import type { Market } from '../../../../../src/chains/evm/market.ts';

const GWEI = 1_000_000_000n;

/** A market that asks for so many gwei. */
function market(gwei: bigint, over: { gasLimit?: bigint; legacy?: boolean; gasPrice?: bigint } = {}): Market {
  const { gasLimit = 30_000_000n, legacy = false, gasPrice = gwei * GWEI } = over;
  const baseFeePerGas = legacy ? null : gwei * GWEI;
  return {
    block: { number: 1n, hash: `0x${'1'.repeat(64)}`, gasLimit, baseFeePerGas },
    gasPrice,
    tips: legacy ? undefined : { safeLow: 1n, average: 1n, fast: 1n, fastest: 1n },
  };
}

/** Nodes that say what the test sets, and a clock that it moves. */
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
  const believe = createBelief({ now: () => now, elapsed: () => now }, { one, all: async () => state.nodes });
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
    doubt: /^The only endpoint that answers tells of a price of 1000000000000 wei per gas, after 2000000000 before/,
  });
  wait(4_999);
  t.type(await price(), 'string', 'too soon');
  wait(1);
  t.equal(await price(), 1_000n);
});

t.test('two wrong answers far apart, or of another size, do not bear each other out', async (t) => {
  const { price, say, wait } = world(market(2n));
  await price();
  say(market(1_000n));
  await price();
  wait(60_001);
  t.type(await price(), 'string');
  say(market(100_000n));
  wait(10_000);
  t.type(await price(), 'string');
  say(market(2n));
  t.equal(await price(), 2n);
  say(market(1_000n));
  wait(10_000);
  t.type(await price(), 'string', 'an ordinary answer in between ends the suspicion');
});

t.test('an only node’s first market has to agree with itself', async (t) => {
  for (const odd of [market(1_000n, { gasPrice: GWEI }), market(1n, { gasPrice: 1_000n * GWEI })]) {
    const { believe, price, wait } = world(odd);
    t.match(await believe('one'), { gasPrice: odd.gasPrice, doubt: /contradict/ });
    wait(5_000);
    t.not(typeof (await price()), 'string', 'believed when it is said again');
  }
  t.equal(await world(market(1_000n, { legacy: true })).price(), 1_000n, 'a legacy price has nothing beside it');
});

t.test('a second look prefers EIP-1559 and the higher gas limit', async (t) => {
  const { believe } = world(market(2n, { legacy: true, gasLimit: 20_000n }), market(3n));
  t.match(await believe('all'), { gasPrice: 3n * GWEI, block: { gasLimit: 30_000_000n } });
  t.match(await world(market(2n, { legacy: true }), market(2n, { legacy: true })).believe('all'), { tips: undefined });
});

t.test('where not all answer in time, one is enough', async (t) => {
  const { price, say } = world();
  await t.rejects(price(), /nobody answers/);
  const only = createBelief({ now: () => 0, elapsed: () => 0 }, { one: async () => market(4n), all: async () => [] });
  t.match(await only('one'), { gasPrice: 4n * GWEI });
  say(market(4n));
  t.equal(await price('all'), 4n);
});
