import t from 'tap';
import {
  blockNumber,
  blockReceipts,
  blockTime,
  estimateGas,
  feeRewards,
  gasPrice,
  getBalance,
  getBlock,
  getFullBlock,
  getInclusionBlock,
  getReceipt,
  hasCode,
  latestBlock,
  onlyOnChain,
  parseGasPrice,
  parseQuantity,
  sentHash,
  toData,
  toQuantity,
  transactionCount,
} from '../../../../../src/chains/evm/rpc-calls.ts';
import type { Json } from '../../../../../src/domain/json/json.ts';
import type { ReadFromEndpoint } from '../../../../../src/egress/rpc/rpc-client.ts';
import { openRpc } from '../../../../support/evm.ts';
import { answersByMethod, startRpcDouble } from '../../../../support/rpc-double.ts';

const HASH = `0x${'aB'.repeat(32)}`;
const ACCOUNT = `0x${'Cd'.repeat(20)}`;
const RECEIPT = {
  transactionHash: HASH,
  from: ACCOUNT,
  blockNumber: '0x10',
  blockHash: HASH,
  status: '0x1',
  gasUsed: '0x5208',
};

/** A node that gives the same answer to every call, and records the calls. */
function answering(answer: Json) {
  const asked: [string, Json][] = [];
  const read: ReadFromEndpoint = async (method, params, parse) => {
    asked.push([method, params]);
    return parse(answer);
  };
  return { read, asked };
}

t.test('quantities are exact, and nothing else is one', async (t) => {
  const { read, asked } = answering('0xffffffffffffffffffff');
  const value = 0xffffffffffffffffffffn;
  t.equal(await blockNumber(read), value);
  t.equal(await gasPrice(read), value);
  t.equal(await getBalance(read, ACCOUNT), value);
  t.equal(await transactionCount(read, ACCOUNT, 'latest'), value);
  t.equal(await transactionCount(read, ACCOUNT, 255n), value);
  t.equal(await estimateGas(read, { to: ACCOUNT }), value);
  t.same(
    asked.map(([method, params]) => [method, ...(params as Json[])]),
    [
      ['eth_blockNumber'],
      ['eth_gasPrice'],
      ['eth_getBalance', ACCOUNT, 'latest'],
      ['eth_getTransactionCount', ACCOUNT, 'latest'],
      ['eth_getTransactionCount', ACCOUNT, '0xff'],
      ['eth_estimateGas', { to: ACCOUNT }],
    ],
  );
  for (const bad of ['', '0x', '10', '0xg', `0x${'1'.repeat(65)}`, 5, null, undefined, {}]) {
    t.throws(() => parseQuantity(bad), TypeError);
  }
  t.equal(toQuantity(0n), '0x0');
  t.equal(toData('0xAB'), '0xAB');
  t.equal(toData('AB'), '0xAB');
  t.equal(toData(null), '0x');
});

t.test('blocks before and after EIP-1559', async (t) => {
  const block = { number: '0x1', hash: HASH, gasLimit: '0x1c9c380' };
  t.match(await latestBlock(answering(block).read), { number: 1n, gasLimit: 30_000_000n, baseFeePerGas: null });
  t.match(await latestBlock(answering({ ...block, baseFeePerGas: '0x7' }).read), { baseFeePerGas: 7n });
  for (const gasLimit of [null, '', 7])
    t.match(await latestBlock(answering({ ...block, gasLimit }).read), { gasLimit: 0n });
});

t.test('a block with what is in it', async (t) => {
  const block = (transactions: Json) => answering({ number: '0x1', hash: HASH, transactions }).read;
  const used = { hash: HASH, from: ACCOUNT, nonce: '0x5' };
  const plain = { hash: HASH.toLowerCase(), from: ACCOUNT.toLowerCase(), nonce: 5n, authorizations: [] };
  t.same(await getFullBlock(block([used, { hash: HASH }]), 1n), { hash: HASH.toLowerCase(), transactions: [plain] });
  const authorization = { chainId: '0x1', address: ACCOUNT, nonce: '0x2', yParity: '0x1', r: '0x3', s: '0x4' };
  const carrier = { ...used, authorizationList: [authorization, { ...authorization, r: null }, 7] };
  const read = await getFullBlock(block([carrier]), 1n);
  t.match(read?.transactions[0]?.authorizations, [
    { chainId: 1n, address: ACCOUNT.toLowerCase(), nonce: 2n, yParity: 1n, r: 3n, s: 4n },
  ]);
  t.equal(read?.transactions[0]?.authorizations.length, 1, 'what is none is left out');
  t.equal(await getFullBlock(answering(null).read, 1n), null);
  t.equal(await getFullBlock(block([used]), 2n), null, 'another block');
  await t.rejects(getFullBlock(block(null), 1n), TypeError);
});

t.test('a block whose content a node has pruned does not pass for an empty one', async (t) => {
  const empty = `0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421`;
  for (const [root, isKnown] of [
    [empty, true],
    [empty.toUpperCase().replace('X', 'x'), true],
    [null, true],
    [HASH, false],
  ] as const) {
    const { read } = answering({ number: '0x1', hash: HASH, transactions: [], transactionsRoot: root });
    t.equal((await getBlock(read, 1n))?.transactions !== undefined, isKnown);
    t.equal((await getFullBlock(read, 1n)) !== null, isKnown);
  }
});

t.test('where a transaction is, when a block was made, and whether an account has code', async (t) => {
  t.equal(await getInclusionBlock(answering({ blockNumber: '0x10' }).read, HASH), 16n);
  t.equal(await getInclusionBlock(answering({ blockNumber: null }).read, HASH), null, 'in the pool');
  t.equal(await getInclusionBlock(answering(null).read, HASH), null);
  t.equal(await blockTime(answering({ timestamp: '0x10' }).read, 1n), 16_000);
  t.equal(await blockTime(answering(null).read, 1n), null);
  t.equal(await hasCode(answering('0x').read, ACCOUNT, 1n), false);
  t.equal(await hasCode(answering('0xef').read, ACCOUNT, 1n), true);
  await t.rejects(hasCode(answering(null).read, ACCOUNT, 1n), TypeError);
});

t.test('receipts are compared in lower case', async (t) => {
  const receipt = await getReceipt(answering(RECEIPT).read, HASH);
  t.match(receipt, {
    transactionHash: HASH.toLowerCase(),
    from: ACCOUNT.toLowerCase(),
    blockNumber: 16n,
    succeeded: true,
  });
  t.match(await getReceipt(answering({ ...RECEIPT, status: '0x0', effectiveGasPrice: '0x9' }).read, HASH), {
    succeeded: false,
    effectiveGasPrice: 9n,
  });
  t.equal(await getReceipt(answering(null).read, HASH), null);
  const hashes = new Set([HASH.toLowerCase()]);
  t.equal((await blockReceipts(answering([RECEIPT, RECEIPT]).read, 16n, hashes)).length, 2);
  t.same(await blockReceipts(answering([RECEIPT]).read, 16n, new Set([`0x${'7'.repeat(64)}`])), []);
  t.equal(sentHash(HASH), HASH.toLowerCase());
});

t.test('what a receipt only shows is dropped if it cannot be read, and its figures may be numbers', async (t) => {
  for (const odd of ['0x', '', null, -7, 1.5]) {
    const receipt = { ...RECEIPT, gasUsed: odd, effectiveGasPrice: odd, contractAddress: odd, status: 1 };
    const shown = { succeeded: true, gasUsed: null, effectiveGasPrice: null, contractAddress: null };
    t.match(await getReceipt(answering(receipt).read, HASH), shown, JSON.stringify(odd));
  }
  t.match(await getReceipt(answering({ ...RECEIPT, status: 0 }).read, HASH), { succeeded: false });
  const numbers = { ...RECEIPT, blockNumber: 16, gasUsed: 21_000, effectiveGasPrice: 7 };
  const read = { blockNumber: 16n, gasUsed: 21_000n, effectiveGasPrice: 7n };
  t.match(await getReceipt(answering(numbers).read, HASH), read);
});

t.test('a receipt of the time before they told, and one of what waits in a pool', async (t) => {
  const { status: _status, ...untold } = RECEIPT;
  const old = { ...untold, root: HASH };
  t.match(await getReceipt(answering(old).read, HASH), { succeeded: null });
  for (const over of [{ blockNumber: null }, { blockHash: null }]) {
    t.equal(await getReceipt(answering({ ...RECEIPT, ...over }).read, HASH), null);
  }
});

t.test('of a block’s list counts what is a receipt of that block', async (t) => {
  const list = [RECEIPT, {}, null, 7, { ...RECEIPT, blockNumber: '0x11' }, { ...RECEIPT, from: undefined }];
  const hashes = new Set([HASH.toLowerCase()]);
  t.equal((await blockReceipts(answering(list).read, 16n, hashes)).length, 1);
  t.same(await blockReceipts(answering(null).read, 16n, hashes), []);
});

t.test('a block is that with the very number, and lists what is in it', async (t) => {
  const block = { number: '0x10', hash: HASH };
  t.same(await getBlock(answering(block).read, 16n), { hash: HASH.toLowerCase(), transactions: undefined });
  for (const listed of [HASH, { hash: HASH }]) {
    const shown = await getBlock(answering({ ...block, transactions: [listed, 7] }).read, 16n);
    t.same([...(shown?.transactions ?? [])], [HASH.toLowerCase()]);
  }
  t.equal(await getBlock(answering({ number: '0x11', hash: HASH }).read, 16n), null);
  t.equal(await getBlock(answering(null).read, 16n), null);
  await t.rejects(getBlock(answering({ number: '0x10', hash: null }).read, 16n), TypeError);
});

t.test('what no honest node answers is refused', async (t) => {
  for (const lie of [
    {},
    [],
    'ok',
    7,
    { ...RECEIPT, blockNumber: '10' },
    { ...RECEIPT, status: null },
    { ...RECEIPT, status: undefined, root: '0x12' },
    { ...RECEIPT, blockHash: '0x12' },
    { ...RECEIPT, from: '0x12' },
    { ...RECEIPT, status: true },
  ]) {
    await t.rejects(getReceipt(answering(lie).read, HASH), TypeError, JSON.stringify(lie));
  }
  await t.rejects(blockReceipts(answering({}).read, 1n, new Set()), TypeError);
  for (const none of [null, { reward: 'much' }]) t.throws(() => feeRewards(none), TypeError);
  t.throws(() => sentHash(null), TypeError);
});

t.test('a price that no chain ever had is none', async (t) => {
  const absurd = `0x1${'0'.repeat(32)}`;
  t.equal(parseGasPrice(`0x${'f'.repeat(32)}`), (1n << 128n) - 1n);
  t.throws(() => parseGasPrice(absurd), TypeError);
  await t.rejects(gasPrice(answering(absurd).read), TypeError);
  const block = { number: '0x1', hash: HASH, gasLimit: '0x1', baseFeePerGas: absurd };
  await t.rejects(latestBlock(answering(block).read), TypeError);
  const holes = { reward: [['0x5', null, absurd, '-0xfd', 9], null, []] };
  t.same(feeRewards(holes), [[5n, 0n, 0n, 0n, 0n], [], []], 'a figure that cannot be read counts as none');
});

t.test('a node that serves another chain is not believed, and another one is asked', async (t) => {
  const serving = (chain: string, height: string) =>
    startRpcDouble(answersByMethod({ eth_chainId: chain, eth_blockNumber: height }));
  const stray = await serving('0x5', '0xffff');
  const ours = await serving('0x1', '0x7');
  t.teardown(() => Promise.all([stray.stop(), ours.stop()]));
  const both = openRpc([stray.url, ours.url]);
  const alone = openRpc([stray.url]);
  t.teardown(() => Promise.all([both.close(), alone.close()]));
  t.equal(await onlyOnChain(1n, both).onOne(blockNumber), 7n);
  await t.rejects(onlyOnChain(1n, alone).onOne(blockNumber), {
    kind: 'malformed',
    message: /it serves chain 5, not 1$/,
  });
});

t.test('an endpoint of another chain has no say, and is offered nothing', async (t) => {
  const node = (chain: unknown) =>
    startRpcDouble(answersByMethod({ eth_chainId: chain, eth_sendRawTransaction: HASH }));
  const [stray, ours, mute, down] = await Promise.all([node('0x5'), node('0x1'), node(undefined), node('0x1')]);
  t.teardown(() => Promise.all([stray.stop(), ours.stop(), mute.stop(), down.stop()]));
  down.answer(() => ({ status: 502 }));
  const rpc = openRpc([stray.url, ours.url, mute.url, down.url]);
  t.teardown(() => rpc.close());
  const guarded = onlyOnChain(1n, rpc);
  const sent = { status: 'fulfilled', value: HASH };
  t.match(await guarded.offerEach('eth_sendRawTransaction', [['0x01'], ['0x02']]), [
    [{ reason: { message: /it serves chain 5, not 1$/ } }, { reason: { kind: 'malformed' } }],
    [sent, sent],
    [sent, sent],
    [{ reason: { kind: 'http' } }, { reason: { kind: 'http' } }],
  ]);
  t.notOk(stray.calls.some(({ method }) => method === 'eth_sendRawTransaction'));
  t.notOk(
    down.calls.some(({ method }) => method === 'eth_sendRawTransaction'),
    'nor one that does not answer',
  );
  t.match(await guarded.each('eth_sendRawTransaction', []), [{ reason: { kind: 'malformed' } }, sent, sent, {}]);
  const others = await guarded.onOne(async (read) =>
    Promise.allSettled(guarded.onOthers(read, async (other) => blockNumber(other))),
  );
  t.ok(others.every(({ status }) => status === 'rejected'));
});
