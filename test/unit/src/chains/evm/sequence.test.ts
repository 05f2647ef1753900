import { Wallet } from 'ethers';
import t, { type Test } from 'tap';
import {
  hasLost,
  isNoFurther,
  type LostNonce,
  nextNonce,
  nextNonceOn,
  whoUsedNonce,
} from '../../../../../src/chains/evm/sequence.ts';
import { startAnvil } from '../../../../support/anvil.ts';
import { openRpc } from '../../../../support/evm.ts';
import { answersByMethod, type DoubleHandler, startRpcDouble } from '../../../../support/rpc-double.ts';

const ACCOUNT = '0x00000000000000000000000000000000000000a1';
const HASH = `0x${'a'.repeat(64)}`;
const OTHER = `0x${'b'.repeat(64)}`;

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

t.test('nonce consumed outside: proved by the transaction that used it, at final depth', async (t) => {
  const anvil = await startAnvil();
  const [alice, bob] = anvil.accounts;
  if (alice === undefined || bob === undefined) throw new Error('anvil has accounts');
  const rpc = openRpc([anvil.url]);
  t.teardown(() => Promise.all([rpc.close(), anvil.stop()]));
  await anvil.rpc('anvil_mine', ['0x20']);
  const send = () => anvil.rpc('eth_sendTransaction', [{ from: alice.address, to: bob.address, value: '0x1' }]);
  const used = await send();
  await anvil.rpc('anvil_mine', ['0x30']);
  await send();
  await anvil.rpc('anvil_mine', ['0x1']);
  const lost: LostNonce = { account: alice.address, sequence: 0n, hashes: [HASH] };
  const ask = (question: LostNonce, at: bigint) => rpc.onOne((read) => whoUsedNonce(read, question, at));

  t.equal(
    await ask(lost, 82n),
    'Nonce 0 consumed externally (on-chain nonce: 2). No matching transaction hash found on-chain. ' +
      `It was used by ${String(used)} in block 33.`,
  );
  t.equal(await ask(lost, 32n), undefined, 'not yet at final depth');
  t.equal(await ask(lost, -1n), undefined, 'the chain is shorter than the depth');
  t.equal(await ask({ ...lost, hashes: [HASH, String(used)] }, 82n), undefined, 'one of ours used it');
});

t.test('nonce used by an authorization that somebody else sent', async (t) => {
  const anvil = await startAnvil({ args: ['--no-mining', '--hardfork', 'prague'] });
  const [alice, bob] = anvil.accounts;
  if (alice === undefined || bob === undefined) throw new Error('anvil has accounts');
  const rpc = openRpc([anvil.url]);
  t.teardown(() => Promise.all([rpc.close(), anvil.stop()]));
  const authorize = (nonce: number) =>
    new Wallet(alice.privateKey).authorize({ address: `0x${'1'.padStart(40, '0')}`, nonce, chainId: 31_337 });
  const price = { gasLimit: 200_000, maxFeePerGas: 20_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };
  const content = { type: 4, chainId: 31_337, nonce: 0, to: bob.address, value: 0, ...price };
  const list = { authorizationList: [await authorize(7), await authorize(0)] };
  const raw = await new Wallet(bob.privateKey).signTransaction({ ...content, ...list });
  const carrier = await anvil.rpc('eth_sendRawTransaction', [raw]);
  await anvil.rpc('anvil_mine', ['0x3']);
  const lost: LostNonce = { account: alice.address, sequence: 0n, hashes: [HASH] };
  const ask = (question: LostNonce, at = 2n) => rpc.onOne((read) => whoUsedNonce(read, question, at));
  t.match(
    await ask(lost),
    new RegExp(`^Nonce 0 consumed externally .* an authorization \\(EIP-7702\\) in ${String(carrier)} in block 1\\.$`),
  );
  t.equal(await ask({ ...lost, sequence: 7n }), undefined, 'one for a nonce that is not there yet was passed over');
  t.equal(await ask({ ...lost, hashes: [String(carrier)] }), undefined, 'ours carried it');
});

t.test('a block that shows nobody proves by its depth that it was nobody of ours', async (t) => {
  const lost = { account: ACCOUNT, sequence: 0n, hashes: [HASH] };
  const { rpc, double } = await open(t, answersByMethod({ ...PROVING, eth_getBlockByNumber: { transactions: [] } }));
  const ask = (at: bigint) => rpc.onOne((read) => whoUsedNonce(read, lost, at));
  t.equal(await ask(109n), undefined);
  t.match(await ask(110n), /consumed externally .* used in block 50, by no transaction of the account\.$/);
  // The same nonce or not: what is ours is in the chain.
  const ours = { transactions: [{ hash: HASH, from: OTHER.slice(0, 42), nonce: '0x0' }] };
  double.answer(answersByMethod({ ...PROVING, eth_getBlockByNumber: ours }));
  t.equal(await ask(110n), undefined);
});

t.test('a nonce used in the first blocks', async (t) => {
  const table = {
    eth_getTransactionCount: '0x1',
    eth_getBlockByNumber: (number: string) => ({
      transactions: number === '0x0' ? [{ hash: OTHER, from: ACCOUNT, nonce: '0x0' }] : [],
    }),
    eth_getTransactionReceipt: () => null,
  };
  const { rpc } = await open(t, answersByMethod(table));
  const lost = { account: ACCOUNT, sequence: 0n, hashes: [HASH] };
  t.match(await rpc.onOne((read) => whoUsedNonce(read, lost, 100n)), new RegExp(`used by ${OTHER} in block 0`));
});

const PROVING = {
  eth_getTransactionCount: (_address: string, at: string) => (Number(at) >= 50 ? '0x1' : '0x0'),
  eth_getBlockByNumber: { transactions: [{ hash: OTHER, from: ACCOUNT, nonce: '0x0' }] },
  eth_getTransactionReceipt: () => null,
};

t.test('stale chain count from a lagging node proves nothing, in either direction', async (t) => {
  const lost = { account: ACCOUNT, sequence: 0n, hashes: [HASH] };
  const { rpc, double } = await open(t, answersByMethod({ ...PROVING, eth_getTransactionCount: '0x0' }));
  t.equal(await rpc.onOne((read) => whoUsedNonce(read, lost, 100n)), undefined, 'it says unused');
  t.equal(await nextNonce(rpc, ACCOUNT), 0n);
  // A count that is ahead of the blocks behind it: nobody there used the nonce.
  double.answer(answersByMethod({ ...PROVING, eth_getBlockByNumber: { transactions: [] } }));
  t.equal(await rpc.onOne((read) => whoUsedNonce(read, lost, 100n)), undefined, 'it says used');
});

t.test('bumped broadcast accepted and its answer lost: any version of ours in the block is no stranger', async (t) => {
  const versions = ['1', '2', '3'].map((digit) => `0x${digit.repeat(64)}`);
  const lost = { account: ACCOUNT, sequence: 0n, hashes: versions };
  const { rpc, double } = await open(t, answersByMethod(PROVING));
  const ask = () => rpc.onOne((read) => whoUsedNonce(read, lost, 100n));
  for (const hash of versions) {
    const block = { transactions: [{ hash, from: ACCOUNT, nonce: '0x0' }] };
    double.answer(answersByMethod({ ...PROVING, eth_getBlockByNumber: block }));
    t.equal(await ask(), undefined, hash);
  }
  double.answer(answersByMethod(PROVING));
  t.match(await ask(), new RegExp(`used by ${OTHER} in block 50`));
});

t.test('reconcile with one failing receipt lookup stays undecided', async (t) => {
  const versions = ['1', '2', '3'].map((digit) => `0x${digit.repeat(64)}`);
  const lost = { account: ACCOUNT, sequence: 0n, hashes: versions };
  for (const failing of versions) {
    for (const failure of ['hang-up', { status: 500 }, { result: {} }] as const) {
      const { rpc } = await open(t, (call) => {
        const isIt = call.method === 'eth_getTransactionReceipt' && call.params[0] === failing;
        return isIt ? failure : answersByMethod(PROVING)(call);
      });
      await t.rejects(
        rpc.onOne((read) => whoUsedNonce(read, lost, 100n)),
        { name: 'RpcError' },
      );
    }
  }
});

t.test('receipt node lags behind the nonce node: the block tells whose the nonce was', async (t) => {
  const lost = { account: ACCOUNT, sequence: 0n, hashes: [HASH] };
  const ours = { transactions: [{ hash: HASH, from: ACCOUNT, nonce: '0x0' }] };
  const { rpc } = await open(t, answersByMethod({ ...PROVING, eth_getBlockByNumber: ours }));
  t.equal(await rpc.onOne((read) => whoUsedNonce(read, lost, 100n)), undefined);
});

t.test('without proof nothing is given up', async (t) => {
  const lost = { account: ACCOUNT, sequence: 0n, hashes: [HASH] };
  const receipt = {
    transactionHash: HASH,
    from: ACCOUNT,
    blockNumber: '0x5',
    blockHash: HASH,
    status: '0x1',
    gasUsed: '0x1',
  };
  const since = (block: number) => (_address: string, at: string) => (Number(at) >= block ? '0x1' : '0x0');
  const withBlock = (transactions: unknown[], found: unknown = null) =>
    answersByMethod({
      eth_getTransactionCount: since(50),
      eth_getBlockByNumber: { transactions },
      eth_getTransactionReceipt: () => found,
    });
  const { rpc, double } = await open(t, withBlock([]));
  const ask = (at = 100n) => rpc.onOne((read) => whoUsedNonce(read, lost, at));
  t.equal(await ask(), undefined, 'the block does not show who used it');
  double.answer(withBlock([{ hash: OTHER, from: ACCOUNT, nonce: '0x0' }], receipt));
  t.equal(await ask(), undefined, 'a receipt of ours turned up after all');
  double.answer(withBlock([{ hash: OTHER, from: ACCOUNT, nonce: '0x0' }]));
  t.match(await ask(), /consumed externally/);

  // A node that keeps no old state: how far back it could look decides.
  const pruned = (oldest: number): DoubleHandler =>
    answersByMethod({ eth_getTransactionReceipt: () => null }, ({ params }) =>
      Number(params[1]) >= oldest ? { result: '0x1' } : { error: { code: -32_000, message: 'missing trie node' } },
    );
  double.answer(pruned(990));
  t.equal(await ask(1_000n), undefined, 'a lagging node could still show a receipt that young');
  double.answer(pruned(900));
  t.equal(
    await ask(1_000n),
    'Nonce 0 consumed externally (on-chain nonce: 1). No matching transaction hash found on-chain.',
  );
  double.answer(() => ({ status: 503 }));
  await t.rejects(ask(), { name: 'RpcError' }, 'no answer at all is not an absence');
});

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
