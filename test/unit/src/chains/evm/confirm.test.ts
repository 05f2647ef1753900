// What the chain shows decides the state that clients see and whether money moves again, so each lie and each lag of a
// node that could turn it is tried here.
import t, { type Test } from 'tap';
import type { ObservedEntry } from '../../../../../src/chains/chain.ts';
import { observe } from '../../../../../src/chains/evm/confirm.ts';
import type { JsonObject } from '../../../../../src/domain/json.ts';
import { startAnvil } from '../../../../support/anvil.ts';
import {
  openEvm,
  openRpc,
  sendThrough,
  signerOf,
  storedAttempt,
  storedTransaction,
  untilIncluded,
} from '../../../../support/evm.ts';
import { answersByMethod, type DoubleHandler, startRpcDouble } from '../../../../support/rpc-double.ts';

const ACCOUNT = { address: '0x00000000000000000000000000000000000000a1', policies: {} };
const TO = '0x00000000000000000000000000000000000000b0';
const hashOf = (digit: string) => `0x${digit.repeat(64)}`;
const quantity = (value: bigint | number) => `0x${value.toString(16)}`;

/** A submitted transaction with attempts of the given hashes. */
function entry(sequence: bigint, hashes: string[], receipt?: JsonObject): ObservedEntry {
  const fields: JsonObject = { chain_id: 1, from: ACCOUNT.address, gas_limit: 21_000, gas_price: 1 };
  if (receipt !== undefined) fields['receipt'] = receipt;
  const stored = storedTransaction(ACCOUNT, { to: TO, value: 0, speed: 'fast' });
  const transaction = { ...stored, fields, sequence, hash: hashes.at(-1) ?? null };
  return { transaction, attempts: hashes.map((hash) => storedAttempt(transaction, sequence, '0x', hash)) };
}

const receiptFor = (hash: string, over: object = {}) => ({
  transactionHash: hash,
  from: ACCOUNT.address,
  blockNumber: '0xa',
  blockHash: hashOf('e'),
  status: '0x1',
  gasUsed: '0x5208',
  effectiveGasPrice: '0x7',
  ...over,
});

interface World {
  head?: number;
  /** The highest block that the node can show, where that is not the head it tells of. */
  top?: number;
  count?: number;
  receipts?: Record<string, object | null>;
  blocks?: Record<string, object[]>;
}

function node({ head = 20, top = head, count = 1, receipts = {}, blocks }: World): DoubleHandler {
  return answersByMethod({
    eth_blockNumber: quantity(head),
    eth_getBlockByNumber: (number: string) => (Number(number) <= top ? { number, transactions: [] } : null),
    eth_getTransactionCount: (_address: string, at: string) => (at === 'latest' ? quantity(count) : '0x0'),
    eth_getTransactionReceipt: (hash: string) => receipts[hash] ?? null,
    ...(blocks === undefined ? {} : { eth_getBlockReceipts: (number: string) => blocks[number] ?? [] }),
  });
}

async function open(t: Test, ...worlds: World[]) {
  const doubles = await Promise.all(worlds.map((world) => startRpcDouble(node(world))));
  const rpc = openRpc(doubles.map(({ url }) => url));
  t.teardown(() => Promise.all([rpc.close(), ...doubles.map((double) => double.stop())]));
  const asked = (method: string) =>
    doubles.flatMap(({ calls }) => calls).filter((call) => call.method === method).length;
  return { doubles, asked, look: (entries: ObservedEntry[], depth = 10n) => observe(rpc, entries, depth) };
}

t.test('the depth decides what is final, for reverts too', async (t) => {
  const hash = hashOf('1');
  for (const [head, final] of [
    [19, false],
    [20, true],
  ] as const) {
    const { look } = await open(t, { head, receipts: { [hash]: receiptFor(hash) } });
    t.match(await look([entry(0n, [hash])]), [{ kind: 'included', hash, succeeded: true, final, reason: null }]);
    const reverted = await open(t, { head, receipts: { [hash]: receiptFor(hash, { status: '0x0' }) } });
    t.match(await reverted.look([entry(0n, [hash])]), [
      { kind: 'included', succeeded: false, final, reason: 'Transaction reverted on-chain (receipt status: failed)' },
    ]);
  }
});

t.test('a height of which the node has no block makes nothing final', async (t) => {
  const hash = hashOf('1');
  const { look, asked } = await open(t, { head: 4_000_000, top: 11, receipts: { [hash]: receiptFor(hash) } });
  t.match(await look([entry(0n, [hash])]), [{ kind: 'included', final: false }]);
  const used = await open(t, { head: 4_000_000, top: 11 });
  t.same(await used.look([entry(0n, [hash])]), [{ kind: 'waiting' }], 'nor lost');
  t.equal(asked('eth_getBlockByNumber'), 1);
});

t.test('what was mined is kept with the transaction', async (t) => {
  const hash = hashOf('1');
  const { look } = await open(t, { receipts: { [hash]: receiptFor(hash) } });
  const [seen] = await look([entry(0n, [hash])]);
  const receipt = {
    block_number: 10,
    block_hash: hashOf('e'),
    succeeded: true,
    gas_used: 21_000,
    effective_gas_price: 7,
  };
  t.ok(seen?.kind === 'included');
  if (seen?.kind !== 'included') return;
  t.same(seen.fields, { chain_id: 1, from: ACCOUNT.address, gas_limit: 21_000, gas_price: 1, receipt });
});

t.test('a receipt of any attempt counts', async (t) => {
  const hashes = ['1', '2', '3'].map(hashOf);
  const first = String(hashes[0]);
  const { look } = await open(t, { receipts: { [first]: receiptFor(first) } });
  t.match(await look([entry(0n, hashes)]), [{ kind: 'included', hash: first }]);
});

t.test('a nonce that no block has used costs one call for the whole account', async (t) => {
  const { look, asked } = await open(t, { count: 5 });
  const entries = Array.from({ length: 50 }, (_, index) => entry(BigInt(5 + index), [hashOf('1')]));
  const seen = await look(entries);
  t.ok(seen.length === 50 && seen.every(({ kind }) => kind === 'waiting'));
  t.equal(asked('eth_getTransactionCount'), 1);
  t.equal(asked('eth_getTransactionReceipt'), 0);
  const unsigned = entry(0n, []);
  t.same(
    await look([unsigned, { ...unsigned, transaction: { ...unsigned.transaction, fields: {}, sequence: null } }]),
    [{ kind: 'waiting' }, { kind: 'waiting' }],
  );
  t.equal(asked('eth_getTransactionCount'), 1, 'nothing was signed, so nothing is asked');
});

t.test('many in one block are read with the block', async (t) => {
  const hashes = Array.from({ length: 40 }, (_, index) => `0x${index.toString(16).padStart(64, '0')}`);
  const block = hashes.map((hash) => receiptFor(hash));
  const world = { count: 40, receipts: Object.fromEntries(block.map((one) => [one.transactionHash, one])) };
  const entries = hashes.map((hash, index) => entry(BigInt(index), [hash]));

  const young = await open(t, { ...world, blocks: { '0xa': block } });
  const seen = await young.look(entries);
  t.same(
    seen.map((one) => one.kind === 'included' && one.hash),
    hashes,
    'in the order of the entries',
  );
  t.equal(young.asked('eth_getBlockReceipts'), 1);
  t.equal(young.asked('eth_getTransactionReceipt'), 1);

  const again = await young.look(hashes.map((hash, index) => entry(BigInt(index), [hash], mined(10))));
  t.ok(again.every(({ kind }) => kind === 'included'));
  t.equal(young.asked('eth_getTransactionReceipt'), 1, 'where they were seen before is known');

  const old = await open(t, world);
  t.ok(
    (await old.look(entries)).every(({ kind }) => kind === 'included'),
    'a node without the method serves too',
  );
  t.equal(old.asked('eth_getTransactionReceipt'), 40);
});

const mined = (block: number, succeeded = true) => ({
  block_number: block,
  block_hash: hashOf('e'),
  succeeded,
  gas_used: 1,
  effective_gas_price: null,
});

t.test('a receipt that is not of this very transaction is none', async (t) => {
  const hash = hashOf('1');
  const lies = [receiptFor(hashOf('2')), receiptFor(hash, { from: TO })];
  for (const lie of lies) {
    const { look } = await open(t, { receipts: { [hash]: lie } });
    t.same(await look([entry(0n, [hash])]), [{ kind: 'waiting' }]);
  }
  const pending = await open(t, { receipts: { [hash]: receiptFor(hash, { blockNumber: null, blockHash: null }) } });
  await t.rejects(pending.look([entry(0n, [hash])]), { name: 'RpcError', kind: 'malformed' });
  const liar = { receipts: { [hash]: receiptFor(hash, { blockHash: 'soon' }) } };
  const honest = { receipts: { [hash]: receiptFor(hash) } };
  const two = await open(t, liar, honest);
  t.match(await two.look([entry(0n, [hash])]), [{ kind: 'included' }], 'the liar loses its turn');
});

t.test('a missing receipt of a used nonce is no proof of anything', async (t) => {
  const hash = hashOf('1');
  const { look } = await open(t, { count: 9 });
  t.same(await look([entry(0n, [hash])]), [{ kind: 'waiting' }]);
});

t.test('a node that is behind takes nothing back, a chain that went back does', async (t) => {
  const hash = hashOf('1');
  const seen = entry(0n, [hash], mined(30, false));
  const lagging = await open(t, { head: 20, count: 0 }, { head: 35, count: 1 });
  t.match(await lagging.look([seen]), [{ kind: 'included', hash, succeeded: false, final: false }]);
  const rewound = await open(t, { head: 20, count: 0 }, { head: 25, count: 0 });
  t.same(await rewound.look([seen]), [{ kind: 'waiting' }]);
  const reorganised = await open(t, { head: 35, count: 0 });
  t.same(await reorganised.look([seen]), [{ kind: 'waiting' }]);
});

t.test('nothing is said when nobody answers', async (t) => {
  const { look, doubles } = await open(t, {});
  doubles[0]?.answer(() => ({ status: 500 }));
  await t.rejects(look([entry(0n, [hashOf('1')])]), { name: 'RpcError', kind: 'http' });
  doubles[0]?.answer((call) => (call.method === 'eth_getTransactionReceipt' ? 'hang-up' : node({ count: 9 })(call)));
  await t.rejects(look([entry(0n, [hashOf('1')])]), { name: 'RpcError', kind: 'transport' });
});

t.test('a real node: reorganised away, and displaced by another transaction', async (t) => {
  const anvil = await startAnvil();
  const [alice, bob] = anvil.accounts;
  if (alice === undefined || bob === undefined) throw new Error('anvil has accounts');
  const { client, rpc } = openEvm([anvil.url], { required_confirmations: 3 });
  t.teardown(() => Promise.all([rpc.close(), anvil.stop()]));
  const account = { address: alice.address, policies: {} };
  const look = async (entry: ObservedEntry) => (await client.observe([entry]))[0];

  const before = await anvil.rpc('evm_snapshot');
  const { entry: sent } = await sendThrough(client, account, signerOf(alice), { to: TO, value: 1, speed: 'fast' });
  t.match(await untilIncluded(client, sent), { kind: 'included', succeeded: true, final: false });
  await anvil.rpc('evm_revert', [before]);
  await anvil.rpc('anvil_mine', ['0x1']);
  t.same(await look(sent), { kind: 'waiting' }, 'it can still be mined');

  const other = await anvil.rpc('eth_sendTransaction', [{ from: alice.address, to: bob.address, value: '0x5' }]);
  t.same(await look(sent), { kind: 'waiting' }, 'what displaced it could go away as well');
  await anvil.rpc('anvil_mine', ['0x4']);
  t.match(await look(sent), {
    kind: 'displaced',
    reason: new RegExp(`^Nonce 0 consumed externally .* ${String(other)}`),
  });
});

t.test('a real node: a call that reverts is mined as failed', async (t) => {
  const anvil = await startAnvil();
  const [alice] = anvil.accounts;
  if (alice === undefined) throw new Error('anvil has accounts');
  const { client, rpc } = openEvm([anvil.url]);
  t.teardown(() => Promise.all([rpc.close(), anvil.stop()]));
  // PUSH0 PUSH0 REVERT
  await anvil.rpc('anvil_setCode', [TO, '0x5f5ffd']);
  const account = { address: alice.address, policies: {} };
  const sent = await sendThrough(client, account, signerOf(alice), { to: TO, value: 0, data: '0x', speed: 'fast' });
  t.match(sent.transaction.fields, { gas_limit: 200_000 });
  t.match(await untilIncluded(client, sent.entry), {
    kind: 'included',
    succeeded: false,
    reason: 'Transaction reverted on-chain (receipt status: failed)',
  });
});
