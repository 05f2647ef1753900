// What a node shows decides the state that clients see, and whether a payment is sent again. So these tests try each
// lie and each delay of a node that could change that decision.
import { Interface } from 'ethers';
import t, { type Test } from 'tap';
import type { ObservedTransaction } from '../../../../../src/chains/chain-client.ts';
import { createObservationMemory, observeTransactions } from '../../../../../src/chains/evm/confirm.ts';
import type { JsonObject } from '../../../../../src/domain/json/json.ts';
import type { RpcClient } from '../../../../../src/egress/rpc/rpc-client.ts';
import type { Transaction } from '../../../../../src/features/transactions/records/transaction.ts';
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
function entry(sequence: bigint, hashes: string[], receipt?: JsonObject): ObservedTransaction {
  const fields: JsonObject = { chain_id: 1, from: ACCOUNT.address, gas_limit: 21_000, gas_price: 1 };
  if (receipt !== undefined) fields['receipt'] = receipt;
  const stored = storedTransaction(ACCOUNT, { to: TO, value: 0, speed: 'fast' });
  const status = receipt === undefined ? 'submitted' : 'mined';
  const transaction: Transaction = { ...stored, status, fields, sequence, hash: hashes.at(-1) ?? null };
  const attempts = hashes.map((hash) => storedAttempt(transaction, sequence, '0x', hash));
  return { transaction, attempts, account: ACCOUNT };
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
  /** The highest block that the node returns, if that is not the head it reports. */
  top?: number;
  count?: number;
  receipts?: Record<string, object | null>;
  blocks?: Record<string, object[] | null>;
  /** The hash of every block that the node returns. */
  hash?: string;
  /** The transactions of every block that the node returns. */
  transactions?: object[];
  /** The transaction hashes that its blocks list. Default: the hashes of the receipts. */
  listed?: string[];
}

function node(world: World): DoubleHandler {
  const { head = 20, top = head, count = 1, receipts = {}, blocks, hash = hashOf('e'), transactions = [] } = world;
  const { listed = Object.keys(receipts) } = world;
  return answersByMethod({
    eth_blockNumber: quantity(head),
    eth_getBlockByNumber: (number: string, isWhole: boolean) =>
      Number(number) <= top ? { number, hash, transactions: isWhole ? transactions : listed } : null,
    eth_getTransactionCount: (_address: string, at: string) =>
      at === 'latest' || (transactions.length > 0 && Number(at) >= 5) ? quantity(count) : '0x0',
    eth_getTransactionReceipt: (hash: string) => receipts[hash] ?? null,
    ...(blocks === undefined ? {} : { eth_getBlockReceipts: (number: string) => blocks[number] ?? null }),
  });
}

const STILL = { now: () => 0, elapsed: () => 0 };

async function open(t: Test, ...worlds: World[]) {
  const doubles = await Promise.all(worlds.map((world) => startRpcDouble(node(world))));
  const rpc = openRpc(doubles.map(({ url }) => url));
  t.teardown(() => Promise.all([rpc.close(), ...doubles.map((double) => double.stop())]));
  const asked = (method: string) =>
    doubles.flatMap(({ calls }) => calls).filter((call) => call.method === method).length;
  const { search } = createObservationMemory(STILL);
  const look = (entries: ObservedTransaction[], depth = 10n, { floor } = createObservationMemory(STILL)) =>
    observeTransactions(rpc, entries, depth, { floor, search });
  return { doubles, asked, look };
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
  t.same(await used.look([entry(0n, [hash])]), [{ kind: 'open' }], 'nor lost');
  t.equal(asked('eth_getBlockByNumber'), 2, 'its own block is asked for with that of the height');
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
  t.ok(seen.length === 50 && seen.every(({ kind }) => kind === 'open'));
  t.equal(asked('eth_getTransactionCount'), 1);
  t.equal(asked('eth_getTransactionReceipt'), 0);
  const unsigned = entry(0n, []);
  t.same(
    await look([unsigned, { ...unsigned, transaction: { ...unsigned.transaction, fields: {}, sequence: null } }]),
    [{ kind: 'open' }, { kind: 'open' }],
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
    t.same(await look([entry(0n, [hash])]), [{ kind: 'open' }]);
  }
  const pending = await open(t, { receipts: { [hash]: receiptFor(hash, { blockNumber: null, blockHash: null }) } });
  t.same(await pending.look([entry(0n, [hash])]), [{ kind: 'open' }], 'of the pool, not of a block');
  for (const lost of [{}, receiptFor(hash, { status: null })]) {
    const truncated = await open(t, { receipts: { [hash]: lost } });
    t.same(await truncated.look([entry(0n, [hash])]), [{ kind: 'open' }], 'one that cannot be read');
  }
  const liar = { receipts: { [hash]: receiptFor(hash, { blockHash: 'soon' }) } };
  const honest = { receipts: { [hash]: receiptFor(hash) } };
  const two = await open(t, liar, honest);
  t.match(await two.look([entry(0n, [hash])]), [{ kind: 'included' }], 'the liar loses its turn');
});

t.test('a missing receipt of a used nonce is no proof of anything', async (t) => {
  const hash = hashOf('1');
  const { look } = await open(t, { count: 9 });
  t.same(await look([entry(0n, [hash])]), [{ kind: 'open' }]);
});

t.test('a node that is behind takes nothing back, a chain that went back does', async (t) => {
  const hash = hashOf('1');
  const seen = entry(0n, [hash], mined(30, false));
  const lagging = await open(t, { head: 20, count: 0 }, { head: 35, count: 1 });
  t.match(await lagging.look([seen]), [{ kind: 'included', hash, succeeded: false, final: false }]);
  const rewound = await open(t, { head: 20, count: 0 }, { head: 25, count: 0 });
  t.same(await rewound.look([seen]), [{ kind: 'open' }]);
  const reorganised = await open(t, { head: 35, count: 0, hash: hashOf('f') });
  t.same(await reorganised.look([seen]), [{ kind: 'open' }]);
});

t.test('a receipt whose block is not in the chain that the node shows makes nothing final', async (t) => {
  const hash = hashOf('1');
  for (const status of ['0x0', '0x1']) {
    const receipts = { [hash]: receiptFor(hash, { status }) };
    const { look, asked } = await open(t, { receipts, hash: hashOf('f') });
    t.match(await look([entry(0n, [hash])]), [{ kind: 'included', succeeded: status === '0x1', final: false }]);
    t.equal(asked('eth_getBlockByNumber'), 2, 'the head and the receipt’s');
  }
  const many = Array.from({ length: 9 }, (_, index) => hashOf(String(index + 1)));
  const receipts = Object.fromEntries(many.map((one) => [one, receiptFor(one)]));
  const whole = await open(t, { count: 9, receipts });
  const seen = await whole.look(many.map((one, index) => entry(BigInt(index), [one])));
  t.ok(seen.every((one) => one.kind === 'included' && one.final));
  t.equal(whole.asked('eth_getBlockByNumber'), 2, 'each block once');
});

t.test('a receipt of what its block does not list makes nothing final', async (t) => {
  const hash = hashOf('1');
  const { look } = await open(t, { receipts: { [hash]: receiptFor(hash) }, listed: [hashOf('2')] });
  t.match(await look([entry(0n, [hash])]), [{ kind: 'included', final: false }]);
});

t.test('of several endpoints a second one must show what is final, or none deny it', async (t) => {
  const hash = hashOf('1');
  const shown: World = { receipts: { [hash]: receiptFor(hash) } };
  const cases: [string, World[], boolean][] = [
    ['another shows the same', [shown], true],
    ['another has the block without it', [{ listed: [] }], false],
    ['one denies it, one shows it', [{ listed: [] }, shown], true],
    ['another says that it failed', [{ receipts: { [hash]: receiptFor(hash, { status: '0x0' }) } }], false],
    ['another has the block and has yet to find the receipt', [{ listed: [hash] }], true],
    ['another is behind', [{ head: 9 }], true],
    ['another has another block there, deep in its chain', [{ hash: hashOf('f'), listed: [] }], false],
    ['another has another block there, at its tip', [{ head: 12, hash: hashOf('f'), listed: [] }], true],
  ];
  for (const [what, worlds, final] of cases) {
    const { look } = await open(t, shown, ...worlds);
    t.match(await look([entry(0n, [hash])]), [{ kind: 'included', final }], what);
  }
  const young = await open(t, { ...shown, head: 19 }, { listed: [] });
  t.match(await young.look([entry(0n, [hash])]), [{ kind: 'included', final: false }]);
  t.equal(young.doubles[1]?.calls.length, 0, 'nobody else is asked before');

  const down = await open(t, shown, shown);
  down.doubles[1]?.answer(() => ({ status: 503 }));
  t.match(await down.look([entry(0n, [hash])]), [{ kind: 'included', final: true }], 'silence denies nothing');
  const slow = await open(t, shown, shown, shown);
  slow.doubles[2]?.answer(() => 'silence');
  let shortest = Number.POSITIVE_INFINITY;
  // A busy machine can make one look slow, but hardly all of five. So the shortest time counts.
  for (let tries = 0; tries < 5 && shortest >= 1_900; tries += 1) {
    const startedAt = performance.now();
    t.match(await slow.look([entry(0n, [hash])]), [{ kind: 'included', final: true }]);
    shortest = Math.min(shortest, performance.now() - startedAt);
  }
  t.ok(shortest < 1_900, 'and who is silent is not waited for');
});

t.test('many that turn final in one block cost a second endpoint one call', async (t) => {
  const hashes = Array.from({ length: 9 }, (_, index) => hashOf(String(index + 1)));
  const block = hashes.map((hash) => receiptFor(hash));
  const world = { count: 9, receipts: Object.fromEntries(block.map((one) => [one.transactionHash, one])) };
  const { look, doubles } = await open(t, world, { ...world, blocks: { '0xa': block } });
  const seen = await look(hashes.map((hash, index) => entry(BigInt(index), [hash])));
  t.ok(seen.every((one) => one.kind === 'included' && one.final));
  t.same(
    doubles[1]?.calls.map(({ method }) => method),
    ['eth_getBlockReceipts'],
  );
});

t.test(
  'a pruned receipt is no loss for what was seen in a block: its block tells, and what was seen then',
  async (t) => {
    const hash = hashOf('1');
    const seen = (succeeded: boolean) => entry(0n, [hashOf('0'), hash], mined(10, succeeded));
    for (const [world, final] of [
      [{ head: 19 }, false],
      [{ head: 20 }, true],
      [{ head: 300 }, true],
      [{ head: 35, count: 0 }, false],
      [{ head: 300, transactions: [taker(hashOf('2'))] }, true],
    ] as [World, boolean][]) {
      for (const succeeded of [true, false]) {
        const { look } = await open(t, { ...world, listed: [hash] });
        const what = JSON.stringify(world);
        t.match(await look([seen(succeeded)]), [{ kind: 'included', hash, succeeded, final }], what);
      }
    }
    const denied = await open(t, { head: 300, listed: [hash] }, { head: 300, hash: hashOf('f') });
    t.match(
      await denied.look([seen(true)]),
      [{ kind: 'included', final: false }],
      'another chain has another block there',
    );
    const pruned = await open(t, { head: 300, listed: [hash] }, { head: 300, listed: [hash] });
    t.match(
      await pruned.look([seen(true)]),
      [{ kind: 'included', final: true }],
      'nor does the other one keep receipts',
    );
  },
);

t.test('a receipt that a node refuses to show because it is pruned keeps nobody else waiting', async (t) => {
  const [gone, there] = [hashOf('1'), hashOf('2')];
  const world = { count: 2, head: 300, receipts: { [there]: receiptFor(there) }, listed: [gone, there] };
  const { doubles, look } = await open(t, world);
  doubles[0]?.answer((call) =>
    call.method === 'eth_getTransactionReceipt' && call.params[0] === gone
      ? { error: { code: 4_444, message: 'pruned history unavailable' } }
      : node(world)(call),
  );
  const seen = [entry(0n, [gone], mined(10)), entry(1n, [there])];
  t.match(await look(seen), [
    { kind: 'included', hash: gone, final: true },
    { kind: 'included', hash: there, final: true },
  ]);
  const many = ['3', '4', '5', '6'].map((digit, index) => entry(BigInt(index), [hashOf(digit)], mined(10)));
  doubles[0]?.answer((call) =>
    call.method === 'eth_getTransactionReceipt'
      ? { error: { code: 4_444, message: 'pruned history unavailable' } }
      : node({ ...world, count: 9 })(call),
  );
  t.match(await look([...many, ...seen]), [{}, {}, {}, {}, {}, { kind: 'open' }], 'nor where blocks are read');
});

t.test('a block that the node does not show any more takes nothing back', async (t) => {
  const hash = hashOf('1');
  const seen = entry(0n, [hash], mined(10));
  for (const answer of [{ result: null }, { error: { code: 4_444, message: 'pruned history unavailable' } }]) {
    for (const [count, kind] of [
      [1, 'included'],
      [0, 'open'],
    ] as const) {
      const world = { head: 300, count };
      const { doubles, look, asked } = await open(t, world);
      doubles[0]?.answer((call) =>
        call.method === 'eth_getBlockByNumber' && call.params[0] === '0xa' ? answer : node(world)(call),
      );
      const [told] = await look([seen]);
      t.equal(told?.kind, kind, 'where the nonce is free again it is in no block');
      if (told?.kind === 'included') t.notOk(told.final);
      t.equal(asked('eth_getTransactionCount'), 1, 'what was in a block is not traced');
    }
  }
});

t.test('a block that is another one, or lacks it, takes back what was seen in it', async (t) => {
  const hash = hashOf('1');
  const seen = entry(0n, [hash], mined(10));
  const made = await open(t, { head: 35, count: 0, listed: [] });
  t.same(await made.look([seen]), [{ kind: 'open' }], 'it was never in that block: somebody made up its receipt');
});

t.test('a list of a block’s receipts that is short, foreign or broken costs a call, not the truth', async (t) => {
  const hashes = Array.from({ length: 6 }, (_, index) => hashOf(String(index)));
  const whole = hashes.map((hash) => receiptFor(hash));
  const receipts = Object.fromEntries(hashes.map((hash, index) => [hash, whole[index] ?? null]));
  const entries = hashes.map((hash, index) => entry(BigInt(index), [hash]));
  const lists = [[], null, whole.slice(0, 3), whole.map((one) => ({ ...one, blockNumber: '0xb' }))];
  for (const list of [...lists, [...whole.slice(1), {}, { from: null }, 7]]) {
    const { look, asked } = await open(t, { count: 6, receipts, blocks: { '0xa': list as object[] } });
    const seen = await look(entries);
    t.ok(
      seen.every(({ kind }) => kind === 'included'),
      JSON.stringify(list),
    );
    t.equal(asked('eth_getBlockReceipts'), 1, 'not again');
  }
});

t.test('before receipts told, a failure is what used all its gas', async (t) => {
  const hash = hashOf('1');
  const old = (gasUsed: string) => receiptFor(hash, { status: undefined, root: hashOf('d'), gasUsed });
  for (const [gasUsed, gasLimit, succeeded] of [
    ['0x5208', 21_000, true],
    ['0x7530', 30_000, false],
    ['0x7530', 40_000, true],
  ] as const) {
    const { look } = await open(t, { receipts: { [hash]: old(gasUsed) } });
    const one = entry(0n, [hash]);
    const fields = { ...one.transaction.fields, gas_limit: gasLimit };
    const [seen] = await look([
      { ...one, transaction: { ...one.transaction, fields }, attempts: [attemptWith(one, fields)] },
    ]);
    t.match(seen, { kind: 'included', succeeded });
  }
});

t.test('the version that is in the block decides what is kept', async (t) => {
  const hashes = ['1', '2'].map(hashOf);
  const [first = ''] = hashes;
  const { look } = await open(t, { receipts: { [first]: receiptFor(first) } });
  const one = entry(0n, hashes);
  const [older, newer] = one.attempts;
  if (older === undefined || newer === undefined) throw new Error('it has two attempts');
  const cheap = { ...older, fields: { ...older.fields, gas_price: 77 } };
  const [seen] = await look([{ ...one, attempts: [cheap, newer] }]);
  t.match(seen, { kind: 'included', hash: first, fields: { gas_price: 77, receipt: { gas_used: 21_000 } } });
});

t.test('a node below what another has shown is passed over, without blame', async (t) => {
  const hash = hashOf('1');
  const time = { now: () => 0, elapsed: () => at };
  let at = 0;
  const lookout = createObservationMemory(time);
  const { doubles, look } = await open(t, { head: 8, count: 0 }, { head: 20, receipts: { [hash]: receiptFor(hash) } });
  const [behind, ahead] = doubles;
  t.same(await look([entry(0n, [hash])], 10n, lookout), [{ kind: 'open' }], 'nothing was seen so far');
  lookout.floor.raise(10n);
  t.match(await look([entry(0n, [hash])], 10n, lookout), [{ kind: 'included', hash }]);
  t.equal(lookout.floor.height(), 10n);
  behind?.answer(node({ head: 12, count: 0 }));
  t.same(await look([entry(0n, [hash])], 10n, lookout), [{ kind: 'open' }], 'it was not set aside');

  behind?.answer(node({ head: 9, count: 0 }));
  ahead?.answer(node({ head: 9, count: 0 }));
  const seen = entry(0n, [hash], mined(10));
  t.match(await look([seen, entry(1n, [hashOf('2')])], 10n, lookout), [{ kind: 'included', hash }, { kind: 'open' }]);
  at = 30_000;
  t.same(await look([seen], 10n, lookout), [{ kind: 'open' }], 'not for ever');
});

t.test('the floor is the highest block seen, for half a minute', async (t) => {
  let at = 1_000;
  const { floor } = createObservationMemory({ now: () => 0, elapsed: () => at });
  t.equal(floor.height(), -1n);
  floor.raise(10n);
  floor.raise(7n);
  t.equal(floor.height(), 10n, 'a lower block does not lower it');
  at += 20_000;
  floor.raise(10n);
  at += 20_000;
  t.equal(floor.height(), 10n, 'each sighting keeps it in force');
  at += 10_000;
  t.equal(floor.height(), -1n, 'nobody has reached it');
  floor.raise(7n);
  t.equal(floor.height(), 7n, 'then a lower one counts again');
});

t.test('only a look that can judge the height says that a node has caught up', async (t) => {
  const hash = hashOf('1');
  const double = await startRpcDouble(node({ head: 1_500, count: 0 }));
  const rpc = openRpc([double.url]);
  t.teardown(() => Promise.all([rpc.close(), double.stop()]));
  let caughtUp = 0;
  const watched: RpcClient = { ...rpc, caughtUp: () => void (caughtUp += 1) };
  const lookAbove = async (block: bigint) => {
    const lookout = createObservationMemory(STILL);
    lookout.floor.raise(block);
    caughtUp = 0;
    t.same(await observeTransactions(watched, [entry(0n, [hash])], 10n, lookout), [{ kind: 'open' }]);
    return caughtUp;
  };
  t.equal(await lookAbove(-1n), 0, 'nothing was seen that it should have');
  t.equal(await lookAbove(1_501n), 0, 'it is behind, and looked at for want of another');
  t.equal(await lookAbove(9_000n), 0, 'it is so far below that the floor is in doubt');
  t.equal(await lookAbove(1_500n), 1);
});

t.test('a liar’s far height does not rule out the honest nodes', async (t) => {
  const hash = hashOf('1');
  const lookout = createObservationMemory(STILL);
  lookout.floor.raise(5_000_000n);
  const { look, doubles } = await open(t, { receipts: { [hash]: receiptFor(hash) } }, { head: 5_000_000, count: 0 });
  t.match(await look([entry(0n, [hash])], 10n, lookout), [{ kind: 'included', hash }]);
  t.notOk(
    doubles[1]?.calls.some(({ method }) => method === 'eth_getTransactionCount'),
    'not looked through',
  );
});

/** Another transaction of the account with nonce 0. */
const taker = (hash: string) => ({ hash, from: ACCOUNT.address, nonce: '0x0' });

t.test('nonce consumed outside: proved on one node, and denied by none', async (t) => {
  const hash = hashOf('1');
  const other = hashOf('2');
  const proving = { head: 100, transactions: [taker(other)] };
  const alone = await open(t, proving);
  t.match(await alone.look([entry(0n, [hash])]), [
    { kind: 'dead', anchor: 'used', reason: new RegExp(`used by ${other} in block 5`) },
  ]);

  for (const head of [0, 100, 500]) {
    const branch = await open(t, proving, { head, count: 0 });
    t.match(await branch.look([entry(0n, [hash])]), [{ kind: 'open' }], 'free on another branch of the chain');
  }
  const denied = await open(t, proving, { head: 100, receipts: { [hash]: receiptFor(hash) } });
  t.match(await denied.look([entry(0n, [hash])]), [{ kind: 'open' }], 'another node has our receipt');
  const receipts = { [hash]: receiptFor(hash, { from: TO }) };
  const foreign = await open(t, proving, { ...proving, receipts });
  t.match(
    await foreign.look([entry(0n, [hash])]),
    [{ kind: 'dead', anchor: 'used' }],
    'of somebody else’s transaction',
  );

  const failing = await open(t, proving);
  failing.doubles[0]?.answer((call) =>
    call.method === 'eth_getTransactionReceipt' && call.params[0] === hash ? { status: 500 } : node(proving)(call),
  );
  await t.rejects(
    failing.look([entry(0n, [other, hash])]),
    { name: 'RpcError' },
    'one failing look-up decides nothing',
  );
});

t.test('a node that is behind what was shown, or not as high as it says, gives nothing up', async (t) => {
  const one = entry(0n, [hashOf('1')]);
  const proving = { head: 100, transactions: [taker(hashOf('2'))] };
  const lookAbove = async (block: bigint, world: World) => {
    const lookout = createObservationMemory(STILL);
    if (block >= 0n) lookout.floor.raise(block);
    return (await open(t, world)).look([one], 10n, lookout);
  };
  t.match(await lookAbove(-1n, proving), [{ kind: 'dead', anchor: 'used' }]);
  t.match(await lookAbove(100n, proving), [{ kind: 'dead', anchor: 'used' }]);
  t.same(await lookAbove(101n, proving), [{ kind: 'open' }], 'one block behind');
  t.same(await lookAbove(5_000n, proving), [{ kind: 'open' }], 'so far behind that the height itself is in doubt');
  t.same(await lookAbove(-1n, { ...proving, top: 99 }), [{ kind: 'open' }]);
});

function attemptWith({ attempts: [attempt] }: ObservedTransaction, fields: JsonObject) {
  if (attempt === undefined) throw new Error('it has an attempt');
  return { ...attempt, fields };
}

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
  const look = async (entry: ObservedTransaction) => (await client.observe([entry]))[0];

  const before = await anvil.rpc('evm_snapshot');
  const { entry: sent } = await sendThrough(client, account, signerOf(alice), { to: TO, value: 1, speed: 'fast' });
  t.match(await untilIncluded(client, sent), { kind: 'included', succeeded: true, final: false });
  await anvil.rpc('evm_revert', [before]);
  await anvil.rpc('anvil_mine', ['0x1']);
  t.same(await look(sent), { kind: 'open' }, 'it can still be mined');

  const other = await anvil.rpc('eth_sendTransaction', [{ from: alice.address, to: bob.address, value: '0x5' }]);
  t.same(await look(sent), { kind: 'open' }, 'what displaced it could go away as well');
  await anvil.rpc('anvil_mine', ['0x4']);
  t.match(await look(sent), {
    kind: 'dead',
    anchor: 'used',
    reason: new RegExp(`^Nonce 0 consumed externally .* ${String(other)}`),
  });
});

t.test(
  'a real node: a call that reverts is mined as failed, with its cause unless that is not to be asked for',
  async (t) => {
    const anvil = await startAnvil();
    const [alice] = anvil.accounts;
    if (alice === undefined) throw new Error('anvil has accounts');
    const { client, rpc } = openEvm([anvil.url]);
    t.teardown(() => Promise.all([rpc.close(), anvil.stop()]));
    // CALLDATASIZE PUSH0 PUSH0 CALLDATACOPY CALLDATASIZE PUSH0 REVERT: reverts with its call data.
    await anvil.rpc('anvil_setCode', [TO, '0x365f5f37365ffd']);
    const data = new Interface(['error Empty(address who, uint256 left)']).encodeErrorResult('Empty', [TO, 7n]);
    const send = async (policies: JsonObject, more: JsonObject = {}) => {
      const account = { address: alice.address, policies };
      const body = { to: TO, value: 0, data, gas_limit: 100_000, speed: 'fast', ...more };
      return sendThrough(client, account, signerOf(alice), body);
    };
    const plain = await send({ include_revert_data: false });
    t.match(await untilIncluded(client, plain.entry), {
      kind: 'included',
      succeeded: false,
      reason: 'Transaction reverted on-chain (receipt status: failed)',
    });

    const described = await send({ include_revert_data: false }, { abi: ['error Empty(address who, uint256 left)'] });
    t.match(await untilIncluded(client, described.entry), {
      succeeded: false,
      reason: /Empty\(.*7/,
      fields: { receipt: { revert_data: data } },
    });

    await anvil.rpc('anvil_setCode', [TO, '0x5b5f56']);
    const endless = await send({}, { gas_limit: 30_000 });
    t.match(await untilIncluded(client, endless.entry), { succeeded: false, reason: /out of ?gas/i });
    await anvil.rpc('anvil_setCode', [TO, '0x365f5f37365ffd']);
    const sent = await send({});
    const reason = `Transaction reverted on-chain (revert_data: ${data})`;
    const seen = await untilIncluded(client, sent.entry);
    t.match(seen, { succeeded: false, reason, fields: { receipt: { revert_reason: reason, revert_data: data } } });

    // The node no longer knows the reason. The reason stays as it was stored, and the node is not asked again.
    await anvil.rpc('anvil_setCode', [TO, '0x']);
    const transaction: Transaction = { ...sent.transaction, status: 'mined', fields: seen.fields };
    const calls: string[] = [];
    const watched: RpcClient = {
      ...rpc,
      onOne: (use) =>
        rpc.onOne((read) =>
          use((method, params, parse, options) => {
            calls.push(method);
            return read(method, params, parse, options);
          }),
        ),
    };
    t.match(await observeTransactions(watched, [{ ...sent.entry, transaction }], 1n, createObservationMemory(STILL)), [
      { kind: 'included', reason },
    ]);
    t.ok(calls.includes('eth_getTransactionReceipt') && !calls.includes('debug_traceTransaction'));
  },
);
