// A final transaction is never checked again. So these tests try everything that another endpoint may say about it.
import t, { type Test } from 'tap';
import { shownElsewhere } from '../../../../../../src/chains/evm/inclusion/second-endpoint.ts';
import type { Receipt } from '../../../../../../src/chains/evm/provider.ts';
import { openRpc } from '../../../../../support/evm.ts';
import { answersByMethod, type DoubleHandler, startRpcDouble } from '../../../../../support/rpc-double.ts';

const FROM = '0x00000000000000000000000000000000000000a1';
const hashOf = (digit: string) => `0x${digit.repeat(64)}`;
const BLOCK = hashOf('e');

const receipt = (transactionHash: string): Receipt => ({
  transactionHash,
  from: FROM,
  blockNumber: 10n,
  blockHash: BLOCK,
  succeeded: true,
  gasUsed: 21_000n,
  effectiveGasPrice: 7n,
  contractAddress: null,
});

interface World {
  head?: number;
  hash?: string;
  listed?: string[] | undefined;
  shows?: Record<string, object>;
}

/** The receipt of the transaction as another node shows it. */
const shown = (transactionHash: string, over: object = {}) => ({
  [transactionHash]: {
    transactionHash,
    from: FROM,
    blockNumber: '0xa',
    blockHash: BLOCK,
    status: '0x1',
    gasUsed: '0x5208',
    ...over,
  },
});

function node({ head = 100, hash = BLOCK, listed = [], shows = {} }: World): DoubleHandler {
  return answersByMethod({
    eth_blockNumber: `0x${head.toString(16)}`,
    eth_getTransactionReceipt: (asked: string) => shows[asked] ?? null,
    eth_getBlockByNumber: (number: string) => (Number(number) <= head ? { number, hash, transactions: listed } : null),
  });
}

async function open(t: Test, ...others: DoubleHandler[]) {
  const doubles = await Promise.all([node({}), ...others].map((handler) => startRpcDouble(handler)));
  const rpc = openRpc(doubles.map(({ url }) => url));
  t.teardown(() => Promise.all([rpc.close(), ...doubles.map((double) => double.stop())]));
  const ask = async (hashes: string[]) => {
    const claims = new Map(hashes.map((hash) => [hash, { account: FROM, receipt: receipt(hash) }]));
    return [...(await rpc.onOne((read) => shownElsewhere(rpc, read, claims, 12n)))];
  };
  const calls = () => doubles.map((double) => double.calls.length);
  return { ask, calls };
}

t.test('the only endpoint is believed, and asked nothing more', async (t) => {
  const { ask, calls } = await open(t);
  t.same(await ask([hashOf('1')]), [hashOf('1')]);
  t.same(calls(), [0]);
});

t.test('each claim stands or falls by itself', async (t) => {
  const [one, two, three] = [hashOf('1'), hashOf('2'), hashOf('3')];
  const { ask, calls } = await open(t, node({ listed: [one, three], shows: shown(one) }));
  t.same(await ask([one, two, three]), [one, three], 'one is shown, two is not in the block, three is');
  t.equal(calls()[0], 0, 'the one that claims it is no second one');
  t.same(await ask([]), []);
});

t.test('what another endpoint’s chain excludes is not final', async (t) => {
  const hash = hashOf('1');
  const cases: [string, World, boolean][] = [
    ['the same', { shows: shown(hash) }, true],
    ['the opposite outcome', { shows: shown(hash, { status: '0x0' }) }, false],
    ['the block without it', {}, false],
    [
      'a block of other content at that height, deep',
      { hash: hashOf('f'), shows: shown(hash, { blockHash: hashOf('f') }) },
      false,
    ],
    ['the same near its head', { hash: hashOf('f'), head: 21 }, true],
    ['no such height', { head: 9 }, true],
  ];
  for (const [what, world, holds] of cases) {
    const { ask } = await open(t, node(world));
    t.same(await ask([hash]), holds ? [hash] : [], what);
  }
});

t.test('one that shows it outweighs one that does not, in any order; silence weighs nothing', async (t) => {
  const hash = hashOf('1');
  const silence: DoubleHandler = () => ({ status: 503 });
  for (const others of [
    [node({}), node({ shows: shown(hash) })],
    [node({ shows: shown(hash) }), node({})],
    [silence, node({ shows: shown(hash) })],
    [silence, silence],
  ]) {
    const { ask } = await open(t, ...others);
    t.same(await ask([hash]), [hash]);
  }
  const { ask } = await open(t, silence, node({}));
  t.same(await ask([hash]), []);
});
