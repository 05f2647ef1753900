import t, { type Test } from 'tap';
import { nextNonce, nextNonceOnChain, UnprovedLeap } from '../../../../../src/chains/evm/sequence.ts';
import { openRpc } from '../../../../support/evm.ts';
import { answersByMethod, type DoubleHandler, startRpcDouble } from '../../../../support/rpc-double.ts';

const ACCOUNT = '0x00000000000000000000000000000000000000a1';

async function open(t: Test, handler: DoubleHandler) {
  const double = await startRpcDouble(handler);
  const rpc = openRpc([double.url]);
  t.teardown(() => Promise.all([rpc.close(), double.stop()]));
  return { rpc, double };
}

t.test('a node without the tag `pending` counts what is in blocks', async (t) => {
  for (const [code, message] of [
    [-32_000, '`eth_getTransactionCount` raised an exception'],
    [-32_603, 'Internal error'],
    [-32_602, 'pending block is not supported'],
  ] as const) {
    const double = await startRpcDouble(({ params }) =>
      params[1] === 'pending' ? { error: { code, message } } : { result: '0x5' },
    );
    const rpc = openRpc([double.url]);
    t.teardown(() => Promise.all([rpc.close(), double.stop()]));
    for (let time = 0; time < 4; time += 1) t.equal(await nextNonce(rpc, `0x${'1'.repeat(40)}`), 5n, message);
    t.match(rpc.endpoints(), [{ state: 'ready', unanswered: [{ method: 'eth_getTransactionCount' }] }]);
  }
});

t.test('chain nonce read does not lower a nonce: the pool counts, and a node without one lowers nothing', async (t) => {
  for (const [pending, latest, next] of [
    ['0x7', '0x5', 7n],
    ['0x4', '0x5', 5n],
  ] as const) {
    const counts = (_address: string, at: string) => (at === 'pending' ? pending : latest);
    const { rpc } = await open(t, answersByMethod({ eth_getTransactionCount: counts }));
    t.equal(await nextNonce(rpc, ACCOUNT), next);
  }
});

/** Endpoints that each return this nonce, or never answer. */
async function openMany(t: Test, counts: readonly (number | 'hangs')[]) {
  const { promise: hung, resolve: endHanging } = Promise.withResolvers<'hang-up'>();
  const doubles = await Promise.all(
    counts.map((count) => {
      if (count === 'hangs') return startRpcDouble(() => hung);
      const answers = { eth_chainId: '0x7a69', eth_getTransactionCount: `0x${count.toString(16)}` };
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
    const rpc = await openMany(t, counts);
    return nextNonceOnChain(rpc, { chain: 31_337n, address: ACCOUNT, least });
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
      const rpc = await openMany(t, [...counts.slice(first), ...counts.slice(0, first)]);
      told.add(await nextNonceOnChain(rpc, { chain: 31_337n, address: ACCOUNT, least }));
    }
    return [...told].toSorted((one, other) => (one < other ? -1 : 1));
  };
  t.strictSame(await ask([1_000_000, 9, 9]), [9n]);
  t.strictSame(await ask([1_000_000, 9]), [9n], 'of two both would have to say it');
  t.strictSame(await ask([1_000_000, 5, 5]), [5n], 'the others are behind');
  t.strictSame(await ask([1_000_000, 5]), [5n]);
  t.strictSame(await ask([1_000_000, 5, 9, 9]), [9n]);
  t.strictSame(await ask([1_000_000, 1_000_001, 5]), [1_000_000n], 'somebody else used the key so often');
  t.strictSame(await ask([73, 9]), [9n, 73n], 'so many uses by others are credible');
  t.strictSame(await ask([74, 9]), [9n]);
  t.strictSame(await ask([1_000_000, 9, 9], null), [9n]);
});

t.test('an endpoint that hangs does not make the word of one that lies count', async (t) => {
  const rpc = await openMany(t, [1_000_000, 9, 'hangs', 9]);
  const ask = (least: bigint | null) => nextNonceOnChain(rpc, { chain: 31_337n, address: ACCOUNT, least });
  t.strictSame(await Promise.all([ask(9n), ask(null)]), [9n, 9n]);
});

const HASH = `0x${'1'.repeat(64)}`;
/** The block in which the account used the nonce 29. */
const USING_BLOCK = 6;

/** A node whose account has used 30 nonces. Its counts are `lie` too high. */
function liar(
  lie: number,
  { state, pool = 0, blocks = true }: { state?: string; pool?: number; blocks?: boolean } = {},
) {
  const hex = (value: number) => `0x${value.toString(16)}`;
  const truthAt = (at: string) => (at === 'latest' || Number(at) >= USING_BLOCK ? 30 : 29);
  const blockAt = (at: string) => {
    const transactions = Number(at) === USING_BLOCK ? [{ hash: HASH, from: ACCOUNT, nonce: hex(29) }] : [];
    return blocks ? { number: at, hash: HASH, transactions } : null;
  };
  return answersByMethod({
    eth_chainId: '0x7a69',
    eth_blockNumber: '0x9',
    eth_getTransactionCount: (_address: string, at: string) =>
      hex(at === 'pending' ? 30 + lie + pool : truthAt(at) + lie),
    eth_getBlockByNumber: blockAt,
    eth_getCode: '0x',
    ...(state === undefined ? {} : { eth_getProof: { nonce: state } }),
  });
}

t.test('what one endpoint alone reports beyond what is known counts only if its chain shows it', async (t) => {
  const ask = async (handler: DoubleHandler, least: bigint | null) => {
    const { rpc } = await open(t, handler);
    const asked = nextNonceOnChain(rpc, { chain: 31_337n, address: ACCOUNT, least });
    return asked.catch((error: unknown) => (error instanceof UnprovedLeap ? 'waits' : Promise.reject(error)));
  };
  const truth = '0x1e';
  t.equal(await ask(liar(500, { state: truth }), 30n), 'waits', 'the state denies it');
  t.equal(await ask(liar(500), 30n), 'waits', 'no block shows it');
  t.equal(await ask(liar(500, { blocks: false }), 30n), 'waits', 'the blocks are pruned');
  t.equal(await ask(liar(500, { state: truth }), null), 'waits', 'at the first contact as well');
  t.equal(await ask(liar(3, { state: truth }), 30n), 'waits', 'a small leap that the state denies');
  t.equal(await ask(liar(3), 30n), 33n, 'a small one that nothing denies: its gap can be filled');
  t.equal(await ask(liar(0, { pool: 500, state: truth }), 30n), 'waits', 'a pool that nobody sees');
  t.equal(await ask(liar(0, { pool: 5, state: truth }), 30n), 35n, 'others wait in the pool');

  t.equal(await ask(liar(0, { state: truth, blocks: false }), null), 30n, 'the state shows it');
  t.equal(await ask(liar(0), null), 30n, 'a block shows it');
  t.equal(await ask(liar(0, { state: '0x0' }), null), 30n, 'a block shows it, whatever the state says');
  t.equal(await ask(liar(-30 + 200, { state: '0xc8' }), 30n), 200n, 'a leap that happened');
  const { rpc } = await open(t, liar(500));
  const refused = nextNonceOnChain(rpc, { chain: 31_337n, address: ACCOUNT, least: 30n });
  await t.rejects(refused, { message: /nonce 530 .* known here is 30, .* add a second endpoint/ });
});

t.test('the word of an endpoint counts as that of one also where the others are down', async (t) => {
  const doubles = await Promise.all([startRpcDouble(liar(500)), startRpcDouble(() => 'hang-up')]);
  const rpc = openRpc(doubles.map(({ url }) => url));
  t.teardown(() => Promise.all([rpc.close(), ...doubles.map((double) => double.stop())]));
  await t.rejects(nextNonceOnChain(rpc, { chain: 31_337n, address: ACCOUNT, least: 30n }), { name: 'UnprovedLeap' });
});
