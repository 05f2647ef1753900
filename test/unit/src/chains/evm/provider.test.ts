import t from 'tap';
import {
  balance,
  blockNumber,
  blockReceipts,
  blockTransactions,
  estimateGas,
  feeHistory,
  gasPrice,
  latestBlock,
  onlyOn,
  quantity,
  receiptOf,
  sentHash,
  toData,
  toQuantity,
  transactionCount,
} from '../../../../../src/chains/evm/provider.ts';
import type { Json } from '../../../../../src/domain/json.ts';
import type { ReadOne } from '../../../../../src/egress/rpc-client.ts';
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

/** A node that always answers the same; notes what it was asked. */
function answering(answer: Json) {
  const asked: [string, Json][] = [];
  const read: ReadOne = async (method, params, parse) => {
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
  t.equal(await balance(read, ACCOUNT), value);
  t.equal(await transactionCount(read, ACCOUNT, 'pending'), value);
  t.equal(await transactionCount(read, ACCOUNT, 255n), value);
  t.equal(await estimateGas(read, { to: ACCOUNT }), value);
  t.same(
    asked.map(([method, params]) => [method, ...(params as Json[])]),
    [
      ['eth_blockNumber'],
      ['eth_gasPrice'],
      ['eth_getBalance', ACCOUNT, 'latest'],
      ['eth_getTransactionCount', ACCOUNT, 'pending'],
      ['eth_getTransactionCount', ACCOUNT, '0xff'],
      ['eth_estimateGas', { to: ACCOUNT }],
    ],
  );
  for (const bad of ['', '0x', '10', '0xg', `0x${'1'.repeat(65)}`, 5, null, undefined, {}]) {
    t.throws(() => quantity(bad), TypeError);
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
  const used = { hash: HASH, from: ACCOUNT, nonce: '0x5' };
  t.same(await blockTransactions(answering({ transactions: [used, { hash: HASH }] }).read, 1n), [
    { hash: HASH.toLowerCase(), from: ACCOUNT.toLowerCase(), nonce: 5n },
  ]);
});

t.test('receipts are compared in lower case', async (t) => {
  const receipt = await receiptOf(answering(RECEIPT).read, HASH);
  t.match(receipt, {
    transactionHash: HASH.toLowerCase(),
    from: ACCOUNT.toLowerCase(),
    blockNumber: 16n,
    succeeded: true,
  });
  t.match(await receiptOf(answering({ ...RECEIPT, status: '0x0', effectiveGasPrice: '0x9' }).read, HASH), {
    succeeded: false,
    effectiveGasPrice: 9n,
  });
  t.equal(await receiptOf(answering(null).read, HASH), null);
  t.equal((await blockReceipts(answering([RECEIPT, RECEIPT]).read, 16n)).length, 2);
  t.equal(sentHash(HASH), HASH.toLowerCase());
});

t.test('what no honest node answers is refused', async (t) => {
  for (const lie of [
    {},
    [],
    'ok',
    7,
    { ...RECEIPT, blockNumber: null },
    { ...RECEIPT, blockHash: '0x12' },
    { ...RECEIPT, from: '0x12' },
    { ...RECEIPT, status: true },
  ]) {
    await t.rejects(receiptOf(answering(lie).read, HASH), TypeError, JSON.stringify(lie));
  }
  await t.rejects(blockReceipts(answering({}).read, 1n), TypeError);
  await t.rejects(blockTransactions(answering(null).read, 1n), TypeError);
  await t.rejects(feeHistory(answering({ reward: 'much' }).read, 4, [50]), TypeError);
  t.throws(() => sentHash(null), TypeError);
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
  t.equal(await onlyOn(1n, both).onOne(blockNumber), 7n);
  await t.rejects(onlyOn(1n, alone).onOne(blockNumber), { kind: 'malformed', message: /it serves chain 5, not 1$/ });
});
