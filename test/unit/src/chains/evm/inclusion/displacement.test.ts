// A client repeats a payment that is reported as lost. So data that a node lacks must never count as proof of a loss.
import t, { type Test } from 'tap';
import { createBodySearch } from '../../../../../../src/chains/evm/inclusion/body-search.ts';
import { type Lost, trace } from '../../../../../../src/chains/evm/inclusion/displacement.ts';
import { openRpc } from '../../../../../support/evm.ts';
import {
  answersByMethod,
  type DoubleAnswer,
  type DoubleHandler,
  startRpcDouble,
} from '../../../../../support/rpc-double.ts';

const ACCOUNT = '0x00000000000000000000000000000000000000a1';
const hashOf = (digit: string) => `0x${digit.repeat(64)}`;
const [OURS, OTHER, THIRD, BLOCK, FORK] = ['1', '2', '3', 'e', 'f'].map(hashOf) as [
  string,
  string,
  string,
  string,
  string,
];
const hex = (value: number) => `0x${value.toString(16)}`;
const lost = (sequence = 0n, hashes = [OURS]): Lost => ({
  account: ACCOUNT,
  sequence,
  hashes,
  signedAt: 0,
  seenIn: undefined,
});

interface World {
  /** The transaction hashes of the account, by block number. */
  used?: Record<number, string>;
  head?: number;
  /** The account's nonce in the latest block. Default: the number of transactions in `used`. */
  count?: number;
  /** The first block whose state, receipts and transaction index the node still has. */
  keepsFrom?: number;
  /** The first block that the node still has. */
  blocksFrom?: number;
  blockHash?: string;
  lists?: boolean;
  receipts?: boolean;
}

function node(world: World): DoubleHandler {
  const { used = {}, head = 100, keepsFrom = 0, blocksFrom = 0, blockHash = BLOCK, receipts = true } = world;
  const placeOf = (hash: string) => Number(Object.entries(used).find(([, one]) => one === hash)?.[0] ?? -1);
  const usedBy = (block: number) => Object.keys(used).filter((number) => Number(number) <= block).length;
  const receiptOf = (hash: string) => ({
    transactionHash: hash,
    from: ACCOUNT,
    blockNumber: hex(placeOf(hash)),
    blockHash,
    status: '0x1',
    gasUsed: '0x5208',
  });
  const isKept = (hash: string) => placeOf(hash) >= keepsFrom && placeOf(hash) >= 0;
  return (call) => {
    const at = String(call.params[1]);
    if (call.method === 'eth_getTransactionCount' && at.startsWith('0x') && Number(at) < keepsFrom) {
      return { error: { code: -32_000, message: 'missing trie node' } };
    }
    return answersByMethod({
      eth_blockNumber: hex(head),
      eth_getTransactionCount: (_: string, block: string) =>
        hex(block === 'latest' ? (world.count ?? usedBy(head)) : usedBy(Number(block))),
      eth_getTransactionByHash: (hash: string) => (isKept(hash) ? { blockNumber: hex(placeOf(hash)) } : null),
      eth_getTransactionReceipt: (hash: string) => (receipts && isKept(hash) ? receiptOf(hash) : null),
      eth_getCode: '0x',
      eth_getBlockByNumber: (block: string) => {
        const number = Number(block);
        const hash = used[number];
        const nonce = hex(usedBy(number) - 1);
        const transactions = hash === undefined ? [] : [{ hash, from: ACCOUNT, nonce }];
        const isShown = number >= blocksFrom && number <= head;
        return isShown ? { number: block, hash: blockHash, timestamp: hex(number), transactions } : null;
      },
      ...(world.lists === true && {
        eth_getBlockReceipts: (block: string) => [receiptOf(used[Number(block)] ?? THIRD)],
      }),
    })(call);
  };
}

async function open(t: Test, ...worlds: (World | DoubleHandler)[]) {
  const handlers = worlds.map((world) => (typeof world === 'function' ? world : node(world)));
  const doubles = await Promise.all(handlers.map((handler) => startRpcDouble(handler)));
  const rpc = openRpc(doubles.map(({ url }) => url));
  t.teardown(() => Promise.all([rpc.close(), ...doubles.map((double) => double.stop())]));
  const search = createBodySearch();
  const ask = async <T extends Lost>(of: readonly T[], finalBlock = 90n) =>
    rpc.onOne(async (read) => {
      const findings = await trace({ rpc, read, confirmations: 10n, finalBlock, search }, of);
      return of.map((one) => findings.get(one));
    });
  return { doubles, ask };
}

const PRUNED: World = { keepsFrom: 80 };
const DOWN = (): DoubleAnswer => ({ status: 503 });

t.test('endpoints that have pruned receipts and states prove no loss, however many they are', async (t) => {
  for (const count of [1, 3]) {
    const nodes = Array.from({ length: count }, () => ({ ...PRUNED, used: { 20: OURS }, blocksFrom: 70 }));
    const { ask } = await open(t, ...nodes);
    const [finding] = await ask([lost()]);
    t.equal(finding?.kind, 'unproved');
    if (finding?.kind === 'unproved')
      t.match(finding.reason, /^Nonce 0 is used\. No endpoint has the receipts or states/);
  }
});

t.test('with its block there it is known to be in it; whether it succeeded only a receipt tells', async (t) => {
  const { ask } = await open(t, { ...PRUNED, used: { 20: OURS } });
  t.match(await ask([lost()]), [
    { kind: 'unproved', reason: /used by attempt 0x1+ in block 20\. No endpoint has a rec/ },
  ]);
  const receipt = { transactionHash: OURS, blockNumber: 20n, succeeded: true };
  const listing = await open(t, { ...PRUNED, used: { 20: OURS }, lists: true });
  t.match(await listing.ask([lost()]), [{ kind: 'receipt', receipt }], 'it has the list of its block');
  for (const elsewhere of [{ used: { 20: OURS } }, { used: { 20: OURS }, receipts: false, lists: true }]) {
    const archived = await open(t, { ...PRUNED, used: { 20: OURS } }, { ...PRUNED, used: { 20: OURS } }, elsewhere);
    t.match(await archived.ask([lost()]), [{ kind: 'receipt', receipt }], 'another endpoint has it');
  }
  const whole = await open(t, { ...PRUNED, used: { 20: OURS }, blocksFrom: 80 }, { used: { 20: OURS } });
  t.match(await whole.ask([lost()]), [{ kind: 'receipt', receipt }], 'only another one has anything of it');
});

t.test('what used the nonce is found in its block; of several endpoints a second one has to show it', async (t) => {
  const foreign = { used: { 20: OTHER } };
  const said = 'Nonce 0 consumed externally (on-chain nonce: 1). No matching transaction hash found on-chain.';
  const displaced = [{ kind: 'displaced', reason: `${said} It was used by ${OTHER} in block 20.` }];
  const unproved = [{ kind: 'unproved' }];
  const cases: [string, (World | DoubleHandler)[], object[]][] = [
    ['the only endpoint', [foreign], displaced],
    ['the only endpoint, which has pruned its states', [{ ...PRUNED, ...foreign }], displaced],
    ['a second one', [foreign, foreign], displaced],
    ['a second one without states', [foreign, { ...PRUNED, ...foreign }], displaced],
    ['a second one without blocks', [foreign, { ...foreign, blocksFrom: 80 }], unproved],
    ['a second one that is down', [foreign, DOWN], unproved],
    ['a second one that is down, and a third', [foreign, DOWN, foreign], displaced],
    ['a second one on another branch', [foreign, { ...foreign, blockHash: FORK }], unproved],
    ['a third one on another branch', [foreign, foreign, { ...foreign, blockHash: FORK }], unproved],
    ['a third one at its tip on another branch', [foreign, foreign, { head: 25, blockHash: FORK }], displaced],
    ['a third one that is behind', [foreign, foreign, { head: 19 }], displaced],
    ['a second one with other content under that hash', [foreign, { used: { 20: THIRD } }], unproved],
    ['a third one that shows ours in it', [foreign, foreign, { used: { 20: OURS } }], unproved],
    ['a third one where the nonce is free', [foreign, foreign, { ...foreign, count: 0 }], unproved],
  ];
  for (const [what, worlds, expected] of cases) {
    const { ask } = await open(t, ...worlds);
    t.match(await ask([lost()]), expected, what);
  }
  const receipt = {
    transactionHash: OURS,
    from: ACCOUNT,
    blockNumber: hex(21),
    blockHash: FORK,
    status: '0x1',
    gasUsed: '0x1',
  };
  const having: DoubleHandler = (call) =>
    call.method === 'eth_getTransactionReceipt' ? { result: receipt } : node(foreign)(call);
  const { ask } = await open(t, foreign, foreign, having);
  t.match(await ask([lost()]), unproved, 'a third one that has our receipt');
});

t.test('a nonce that is not used at final depth is left alone', async (t) => {
  const { ask } = await open(t, { used: { 91: OTHER } });
  t.same(await ask([lost()]), [{ kind: 'open' }]);
});

t.test('several are traced together, and one that cannot be says nothing of the others', async (t) => {
  const used = { 20: OURS, 30: OTHER, 85: THIRD };
  const { doubles, ask } = await open(t, { ...PRUNED, used, lists: true });
  const all = [lost(0n), lost(1n, [hashOf('7')]), lost(2n, [hashOf('8')]), lost(3n, [hashOf('9')])];
  t.match(await ask(all), [{ kind: 'receipt' }, { kind: 'displaced' }, { kind: 'displaced' }, { kind: 'open' }]);
  const counts = doubles[0]?.calls.filter(({ method }) => method === 'eth_getTransactionCount').length ?? 0;
  t.ok(counts < 20, 'they share what they ask');
});

t.test('an endpoint that fails on the way proves nothing and stops nothing', async (t) => {
  for (const method of ['eth_getTransactionByHash', 'eth_getBlockByNumber', 'eth_getTransactionReceipt']) {
    const { ask } = await open(t, (call) =>
      call.method === method ? 'hang-up' : node({ ...PRUNED, used: { 20: OTHER } })(call),
    );
    const [finding] = await ask([lost()]);
    t.not(finding?.kind, 'receipt', method);
    if (method === 'eth_getBlockByNumber') t.equal(finding?.kind, 'unproved');
  }
});
