import t from 'tap';
import {
  isReceiptOf,
  mapLimited,
  receiptsOf,
  unsupported,
} from '../../../../../../src/chains/evm/inclusion/receipts.ts';
import type { Json } from '../../../../../../src/domain/json/json.ts';
import { type ReadOne, RpcError } from '../../../../../../src/egress/rpc/rpc-client.ts';

const ACCOUNT = '0x00000000000000000000000000000000000000a1';
const hashOf = (index: number) => `0x${index.toString(16).padStart(64, '0')}`;
const sought = (index: number, seenIn?: bigint) => ({ account: ACCOUNT, hashes: [hashOf(index)], seenIn });
const receipt = (index: number, block: number) => ({
  transactionHash: hashOf(index),
  from: ACCOUNT,
  blockNumber: `0x${block.toString(16)}`,
  blockHash: hashOf(0xb10c),
  status: '0x1',
  gasUsed: '0x1',
});

/** A node with these answers by method, and the methods that it was asked for. */
function nodeOf(answers: Record<string, (param: Json) => Json>): { read: ReadOne; asked: string[] } {
  const asked: string[] = [];
  const read: ReadOne = async (method, params, parse) => {
    asked.push(method);
    const answer = answers[method];
    if (answer === undefined) throw new RpcError('node', 'the method does not exist', { code: -32_601 });
    return parse(answer((params as Json[])[0] ?? null));
  };
  return { read, asked };
}

t.test('those that were seen in several blocks cost one list for each', async (t) => {
  const blockOf = (index: number) => (index < 5 ? 1 : 2);
  const all = Array.from({ length: 10 }, (_, index) => index);
  const { read, asked } = nodeOf({
    eth_getBlockReceipts: (block) =>
      all.filter((one) => blockOf(one) === Number(block)).map((one) => receipt(one, Number(block))),
    eth_getTransactionReceipt: () => null,
  });
  const found = await receiptsOf(
    read,
    all.map((one) => sought(one, BigInt(blockOf(one)))),
  );
  t.equal(found.size, 10);
  t.same(asked, ['eth_getBlockReceipts', 'eth_getBlockReceipts']);
});

t.test('a node that keeps naming another block is not followed for ever', async (t) => {
  let next = 1;
  const { read, asked } = nodeOf({
    eth_getBlockReceipts: () => [],
    eth_getTransactionReceipt: (hash) => {
      next += 1;
      return receipt(Number(hash), next);
    },
  });
  const all = Array.from({ length: 8 }, (_, index) => sought(index));
  t.equal((await receiptsOf(read, all)).size, 8);
  t.ok(asked.length <= 16);
});

t.test('a receipt is of the one whose hash and sender it bears', async (t) => {
  const one = sought(1);
  const blank = {
    blockNumber: 1n,
    blockHash: '',
    succeeded: true,
    gasUsed: 1n,
    effectiveGasPrice: null,
    contractAddress: null,
  };
  t.ok(isReceiptOf(one, { ...blank, transactionHash: hashOf(1), from: ACCOUNT }));
  t.notOk(isReceiptOf(one, { ...blank, transactionHash: hashOf(2), from: ACCOUNT }));
  t.notOk(isReceiptOf(one, { ...blank, transactionHash: hashOf(1), from: hashOf(2) }));
  t.notOk(isReceiptOf(one, null));
});

t.test('an answer that it cannot is no failure, silence is', async (t) => {
  t.equal(unsupported(new RpcError('node', 'no such method')), undefined);
  const late = new RpcError('timeout', 'late');
  t.throws(() => unsupported(late), late);
});

t.test('so many at a time, in order', async (t) => {
  let running = 0;
  let most = 0;
  const items = Array.from({ length: 40 }, (_, index) => index);
  const results = await mapLimited(items, async (item) => {
    running += 1;
    most = Math.max(most, running);
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
    return item;
  });
  t.same(results, items);
  t.equal(most, 16);
});
