import t, { type Test } from 'tap';
import { hasLost, isNoFurther, nextNonce, nextNonceOn } from '../../../../../src/chains/evm/sequence.ts';
import { openRpc } from '../../../../support/evm.ts';
import { answersByMethod, type DoubleHandler, startRpcDouble } from '../../../../support/rpc-double.ts';

const ACCOUNT = '0x00000000000000000000000000000000000000a1';

async function open(t: Test, handler: DoubleHandler) {
  const double = await startRpcDouble(handler);
  const rpc = openRpc([double.url]);
  t.teardown(() => Promise.all([rpc.close(), double.stop()]));
  return { rpc, double };
}

t.test(
  'chain nonce read does not lower a counter: the pool counts, and a node without one lowers nothing',
  async (t) => {
    for (const [pending, latest, next] of [
      ['0x7', '0x5', 7n],
      ['0x4', '0x5', 5n],
    ] as const) {
      const counts = (_address: string, at: string) => (at === 'pending' ? pending : latest);
      const { rpc } = await open(t, answersByMethod({ eth_getTransactionCount: counts }));
      t.equal(await nextNonce(rpc, ACCOUNT), next);
    }
  },
);

/** Endpoints that each count so many, in a latest block that was made at that second. */
async function openMany(
  t: Test,
  nodes: readonly {
    count: number;
    madeAt?: number;
    counts?: Record<string, number>;
    isDown?: boolean;
    hangs?: boolean;
  }[],
) {
  const { promise: hung, resolve: endHanging } = Promise.withResolvers<'hang-up'>();
  const doubles = await Promise.all(
    nodes.map(({ count, madeAt = 0, counts = {}, isDown = false, hangs = false }) => {
      if (hangs) return startRpcDouble(() => hung);
      if (isDown) return startRpcDouble(() => ({ status: 503 }));
      const answer = (_address: string, at: string) => `0x${(counts[at] ?? count).toString(16)}`;
      const block = { number: '0x9', timestamp: `0x${madeAt.toString(16)}` };
      const answers = { eth_chainId: '0x7a69', eth_getTransactionCount: answer, eth_getBlockByNumber: block };
      return startRpcDouble(answersByMethod(answers));
    }),
  );
  const urls = doubles.map(({ url }) => url);
  const rpc = openRpc(urls, { timeoutMs: 60_000, tries: 1 });
  t.teardown(() => {
    endHanging('hang-up');
    return Promise.all([rpc.close(), ...doubles.map((double) => double.stop())]);
  });
  return rpc;
}

t.test('one endpoint that is behind does not hold up an account that has signed more', async (t) => {
  const ask = async (counts: number[], least: bigint | null | undefined) => {
    const rpc = await openMany(
      t,
      counts.map((count) => ({ count })),
    );
    return nextNonceOn(rpc, { chain: 31_337n, address: ACCOUNT, least });
  };
  t.equal(await ask([5, 9], 9n), 9n);
  t.equal(await ask([5, 9, 1_000_000], 9n), 9n, 'nor does one that makes up a count');
  t.equal(await ask([5, 7], 9n), 7n, 'all are behind');
  t.equal(await ask([5], 9n), 5n, 'nobody else is there');
  t.equal(await ask([5, 9], null), 9n, 'nothing is known of the account');
  t.equal(await ask([5, 9, 1_000_000], null), 9n);
});

t.test('a count far beyond what is known needs more than one endpoint, whichever is asked first', async (t) => {
  const ask = async (counts: number[], least: bigint | null = 9n) => {
    const told = new Set<bigint>();
    for (let first = 0; first < counts.length; first += 1) {
      const turned = [...counts.slice(first), ...counts.slice(0, first)];
      const rpc = await openMany(
        t,
        turned.map((count) => ({ count })),
      );
      told.add(await nextNonceOn(rpc, { chain: 31_337n, address: ACCOUNT, least }));
    }
    return [...told].toSorted((one, other) => (one < other ? -1 : 1));
  };
  t.strictSame(await ask([1_000_000, 9, 9]), [9n]);
  t.strictSame(await ask([1_000_000, 9]), [9n], 'of two both would have to say it');
  t.strictSame(await ask([1_000_000, 5, 5]), [5n], 'the others are behind');
  t.strictSame(await ask([1_000_000, 5]), [5n]);
  t.strictSame(await ask([1_000_000, 5, 9, 9]), [9n]);
  t.strictSame(await ask([1_000_000, 1_000_001, 5]), [1_000_000n], 'somebody else used the key so often');
  t.strictSame(await ask([1_000_000]), [1_000_000n], 'nobody else is there');
  t.strictSame(await ask([73, 9]), [9n, 73n], 'so many uses by others are credible');
  t.strictSame(await ask([74, 9]), [9n]);
  t.strictSame(await ask([1_000_000, 9, 9], null), [9n]);
});

t.test('an endpoint that hangs does not make the word of one that lies count', async (t) => {
  const rpc = await openMany(t, [{ count: 1_000_000 }, { count: 9 }, { count: 0, hangs: true }, { count: 9 }]);
  const ask = (least: bigint | null) => nextNonceOn(rpc, { chain: 31_337n, address: ACCOUNT, least });
  t.strictSame(await Promise.all([ask(9n), ask(null)]), [9n, 9n]);
});

t.test('what was final is lost when a newer block knows nothing of it, and no endpoint does', async (t) => {
  const ask = async (nodes: Parameters<typeof openMany>[1]) =>
    hasLost(await openMany(t, nodes), 31_337n, ACCOUNT, { sequence: 6n, at: 100_500 });
  t.ok(await ask([{ count: 0, madeAt: 101 }]), 'started anew');
  t.notOk(await ask([{ count: 0, madeAt: 100 }]), 'stuck in the past');
  t.notOk(await ask([{ count: 0, madeAt: 101, counts: { '0x9': 6 } }]), 'counts from the past beside a new block');
  t.notOk(
    await ask([
      { count: 0, madeAt: 101 },
      { count: 6, madeAt: 99 },
    ]),
    'another one knows',
  );
  t.ok(
    await ask([
      { count: 0, madeAt: 101 },
      { count: 3, madeAt: 99 },
    ]),
  );
});

t.test('silence is no word for a loss: more than half of the endpoints must have answered', async (t) => {
  const [anew, down] = [
    { count: 0, madeAt: 101 },
    { count: 0, isDown: true },
  ];
  const ask = async (nodes: Parameters<typeof openMany>[1]) =>
    hasLost(await openMany(t, nodes), 31_337n, ACCOUNT, { sequence: 6n, at: 100_500 });
  t.notOk(await ask([anew, down]));
  t.notOk(await ask([down, anew, down]));
  t.notOk(await ask([anew, anew, down, down]));
  t.ok(await ask([anew, down, anew]));
  t.notOk(await ask([down]));
});

t.test('one endpoint that knows what was final, or hangs, outweighs all that say it is lost', async (t) => {
  const anew = { count: 0, madeAt: 101 };
  const ask = async (nodes: Parameters<typeof openMany>[1]) =>
    hasLost(await openMany(t, nodes), 31_337n, ACCOUNT, { sequence: 6n, at: 100_500 });
  t.notOk(await ask([anew, anew, anew, { count: 6, madeAt: 99 }]));
  t.notOk(await ask([anew, anew, anew, { count: 0, hangs: true }]));
});

t.test('most endpoints prove how far an account is, one of them in a newer block', async (t) => {
  const ask = async (nodes: Parameters<typeof openMany>[1]) =>
    isNoFurther(await openMany(t, nodes), 31_337n, ACCOUNT, { sequence: 5n, at: 100_500 });
  const [old, newer] = [
    { count: 5, madeAt: 100 },
    { count: 5, madeAt: 101 },
  ];
  const lying = { count: 1_000_000, madeAt: 200 };
  const [down, hung] = [
    { count: 0, isDown: true },
    { count: 0, hangs: true },
  ];
  t.ok(await ask([newer]));
  t.notOk(await ask([old]), 'stuck before it was signed');
  t.notOk(await ask([{ count: 6, madeAt: 101 }]));
  t.ok(await ask([newer, old]));
  t.ok(await ask([lying, newer, newer]));
  t.ok(await ask([lying, newer, old]));
  t.ok(await ask([hung, newer, newer]));
  t.notOk(await ask([lying, old, old]), 'the newer block has to be that of one of those');
  t.notOk(await ask([lying, newer]), 'of two both have to say it');
  t.notOk(await ask([lying, lying, newer]));
  t.notOk(await ask([lying, lying, newer, newer]));
  t.notOk(await ask([{ count: 0, madeAt: 200 }, lying, { count: 6, madeAt: 101 }]), 'nor does a lie prove it');
  t.notOk(await ask([newer, down]), 'half are silent');
  t.ok(await ask([newer, down, newer]));
  t.notOk(await ask([newer, down, lying]));
});
