import { AbiCoder, Interface, Wallet } from 'ethers';
import t, { type Test } from 'tap';
import {
  type BlockBodySearch,
  createBlockBodySearch,
  type SearchedNonce,
} from '../../../../../src/chains/evm/inclusion/body-search.ts';
import { corroboratedClaims } from '../../../../../src/chains/evm/inclusion/corroboration.ts';
import { type LostTransaction, traceNonceUses } from '../../../../../src/chains/evm/inclusion/displacement.ts';
import { findNonceUse, type LostNonce } from '../../../../../src/chains/evm/inclusion/nonce-use.ts';
import {
  isReceiptOf,
  mapLimited,
  receiptsOf,
  undefinedIfRefused,
} from '../../../../../src/chains/evm/inclusion/receipts.ts';
import {
  decodeRevertData,
  type FailedTransaction,
  REVERTED,
  revertReason,
} from '../../../../../src/chains/evm/inclusion/revert.ts';
import type { Receipt } from '../../../../../src/chains/evm/rpc-calls.ts';
import type { Json, JsonObject } from '../../../../../src/domain/json/json.ts';
import { type ReadFromEndpoint, RpcError } from '../../../../../src/egress/rpc/rpc-client.ts';
import { startAnvil } from '../../../../support/anvil.ts';
import { openRpc } from '../../../../support/evm.ts';
import {
  answersByMethod,
  type DoubleAnswer,
  type DoubleHandler,
  startRpcDouble,
} from '../../../../support/rpc-double.ts';

t.test('body search', async (t) => {
  const ACCOUNT = '0x00000000000000000000000000000000000000a1';
  const BLOCK_S = 12;
  const hex = (value: number) => `0x${value.toString(16)}`;
  const OTHER = `0x${'2'.repeat(64)}`;
  const MINUTE = 60_000;

  /** A chain with one block every twelve seconds. Block `usedIn` holds the transaction with nonce 0. */
  function chain(usedIn: number, from = 0): DoubleHandler {
    return ({ method, params: [block] }) => {
      if (method !== 'eth_getBlockByNumber') return { error: { code: -32_601, message: 'no' } };
      const number = Number(block);
      const transactions = number === usedIn ? [{ hash: OTHER, from: ACCOUNT, nonce: '0x0' }] : [];
      const shown = { number: block, hash: `0x${'e'.repeat(64)}`, timestamp: hex(number * BLOCK_S), transactions };
      return { result: number >= from ? shown : null };
    };
  }

  const sought = (signedInBlock: number, sequence = 0n): SearchedNonce => ({
    account: ACCOUNT,
    sequence,
    hashes: [`0x${'1'.repeat(64)}`],
    signedAt: signedInBlock * BLOCK_S * 1_000,
  });

  async function open(t: Test, handler: DoubleHandler) {
    const double = await startRpcDouble(handler);
    const rpc = openRpc([double.url]);
    t.teardown(() => Promise.all([rpc.close(), double.stop()]));
    const wholes = () => double.calls.filter(({ params }) => params[1] === true).map(({ params }) => Number(params[0]));
    const look = (search: BlockBodySearch, of: readonly SearchedNonce[], last = 10_000n) =>
      rpc.onOne((read) => search.readOn(read, of, last));
    return { look, wholes };
  }

  t.test('it begins where the transaction was signed, with what two clocks may be apart, and goes up', async (t) => {
    const { look, wholes } = await open(t, chain(9_010));
    const search = createBlockBodySearch();
    const one = sought(9_000);
    t.match((await look(search, [one]))?.get(one), { block: 9_010n, hash: OTHER });
    t.equal(Math.min(...wholes()), 9_000 - (5 * MINUTE) / 1_000 / BLOCK_S);
    t.ok(wholes().length <= 48, 'no further than it had to');
  });

  t.test('each look reads some more, and none a block that is not final', async (t) => {
    const { look, wholes } = await open(t, chain(9_200));
    const search = createBlockBodySearch();
    const one = sought(9_000);
    let looks = 0;
    for (let found = false; !found; looks += 1) found = (await look(search, [one], 9_300n))?.has(one) === true;
    t.equal(looks, 4);
    t.equal(new Set(wholes()).size, wholes().length, 'no block twice');
    t.ok(Math.max(...wholes()) <= 9_300);
  });

  t.test('where the clock was wrong it goes on below, to the first block, and then anew', async (t) => {
    const { look, wholes } = await open(t, chain(3));
    const search = createBlockBodySearch();
    const late = sought(20_000);
    for (let looks = 0; looks < 20; looks += 1) {
      if ((await look(search, [late], 500n))?.has(late) === true) break;
    }
    t.ok(wholes().includes(3));
    t.equal(new Set(wholes()).size, wholes().length, 'no block twice');

    const absent = await open(t, chain(900));
    const another = createBlockBodySearch();
    for (let looks = 0; looks < 20; looks += 1) await absent.look(another, [sought(20_000)], 200n);
    t.equal(absent.wholes().filter((number) => number === 0).length > 1, true);
  });

  t.test('another nonce begins a search of its own', async (t) => {
    const { look, wholes } = await open(t, chain(-1));
    const search = createBlockBodySearch();
    await look(search, [sought(9_000)]);
    await look(search, [sought(9_000), sought(400, 1n)]);
    t.ok(wholes().includes(400));
  });

  t.test('blocks that are not shown are told from blocks without it', async (t) => {
    const { look } = await open(t, chain(-1, 9_000));
    t.equal(await look(createBlockBodySearch(), [sought(400)], 8_000n), undefined);
    t.equal((await look(createBlockBodySearch(), [sought(9_500)]))?.size, 0);
  });
});

// A client repeats a payment that is reported as lost. So data that a node lacks must never count as proof of a loss.
t.test('displacement', async (t) => {
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
  const lost = (sequence = 0n, hashes = [OURS]): LostTransaction => ({
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
    const search = createBlockBodySearch();
    const ask = async <T extends LostTransaction>(of: readonly T[], finalBlock = 90n) =>
      rpc.onOne(async (read) => {
        const findings = await traceNonceUses({ rpc, read, confirmations: 10n, finalBlock, search }, of);
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
});

// The transaction that used a nonce decides whether a payment is lost. So these tests try everything that real nodes
// prune, hide or mix up.
t.test('nonce use', async (t) => {
  const ACCOUNT = '0x00000000000000000000000000000000000000a1';
  const HASH = `0x${'a'.repeat(64)}`;
  const OTHER = `0x${'b'.repeat(64)}`;
  const BLOCK_HASH = `0x${'e'.repeat(64)}`;
  const lost: LostNonce = { account: ACCOUNT, sequence: 0n, hashes: [HASH] };

  async function open(t: Test, handler: DoubleHandler) {
    const double = await startRpcDouble(handler);
    const rpc = openRpc([double.url]);
    t.teardown(() => Promise.all([rpc.close(), double.stop()]));
    const ask = (last = 100n, of = lost) => rpc.onOne((read) => findNonceUse(read, of, last));
    return { double, ask };
  }

  const sentBy = (hash: string) => ({ hash, from: ACCOUNT, nonce: '0x0' });

  /** A node on which block 50 used the nonce. `transactions` are the content of that block. */
  const using = (
    transactions: unknown[],
    more: Record<string, unknown> = {},
    otherwise?: DoubleHandler,
  ): DoubleHandler =>
    answersByMethod(
      {
        eth_getTransactionCount: (_address: string, at: string) => (Number(at) >= 50 ? '0x1' : '0x0'),
        eth_getBlockByNumber: (number: string) => ({
          number,
          hash: BLOCK_HASH,
          transactions: Number(number) === 50 ? transactions : [],
        }),
        eth_getTransactionReceipt: () => null,
        eth_getTransactionByHash: () => null,
        eth_getCode: '0x',
        ...more,
      },
      otherwise,
    );

  t.test('a real node: the transaction that used it, at final depth', async (t) => {
    const anvil = await startAnvil();
    const [alice, bob] = anvil.accounts;
    if (alice === undefined || bob === undefined) throw new Error('anvil has accounts');
    const rpc = openRpc([anvil.url]);
    t.teardown(() => Promise.all([rpc.close(), anvil.stop()]));
    await anvil.rpc('anvil_mine', ['0x20']);
    const send = () => anvil.rpc('eth_sendTransaction', [{ from: alice.address, to: bob.address, value: '0x1' }]);
    const used = String(await send());
    await anvil.rpc('anvil_mine', ['0x30']);
    await send();
    await anvil.rpc('anvil_mine', ['0x1']);
    const ofAlice: LostNonce = { account: alice.address, sequence: 0n, hashes: [HASH] };
    const ask = (question: LostNonce, at: bigint) => rpc.onOne((read) => findNonceUse(read, question, at));

    t.match(await ask(ofAlice, 82n), {
      block: 33n,
      hash: used,
      isOurs: false,
      text: `It was used by ${used} in block 33.`,
    });
    t.equal(await ask(ofAlice, 32n), 'unused', 'not yet at final depth');
    t.match(await ask({ ...ofAlice, hashes: [HASH, used] }, 82n), { block: 33n, hash: used, isOurs: true });
  });

  t.test(
    'a real node: an authorization that somebody else sent, and a contract made by the account’s own code',
    async (t) => {
      const anvil = await startAnvil({ args: ['--no-mining', '--hardfork', 'prague'] });
      const [alice, bob] = anvil.accounts;
      if (alice === undefined || bob === undefined) throw new Error('anvil has accounts');
      const rpc = openRpc([anvil.url]);
      t.teardown(() => Promise.all([rpc.close(), anvil.stop()]));
      const factory = '0x00000000000000000000000000000000000fac70';
      // CREATE with no init code: PUSH0 PUSH0 PUSH0 CREATE.
      await anvil.rpc('anvil_setCode', [factory, '0x5f5f5ff0']);
      const authorize = (nonce: number) =>
        new Wallet(alice.privateKey).authorize({ address: factory, nonce, chainId: 31_337 });
      const price = { gasLimit: 200_000, maxFeePerGas: 20_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };
      const content = { type: 4, chainId: 31_337, nonce: 0, to: bob.address, value: 0, ...price };
      const list = { authorizationList: [await authorize(7), await authorize(0)] };
      const raw = await new Wallet(bob.privateKey).signTransaction({ ...content, ...list });
      const carrier = String(await anvil.rpc('eth_sendRawTransaction', [raw]));
      await anvil.rpc('anvil_mine', ['0x3']);
      const ofAlice: LostNonce = { account: alice.address, sequence: 0n, hashes: [HASH] };
      const ask = (question: LostNonce, at = 2n) => rpc.onOne((read) => findNonceUse(read, question, at));
      const text = `It was used by an authorization (EIP-7702) in ${carrier} in block 1.`;
      t.match(await ask(ofAlice), { block: 1n, hash: carrier, isOurs: false, text });
      t.equal(
        await ask({ ...ofAlice, sequence: 7n }),
        'unused',
        'one for a nonce that is not there yet was passed over',
      );
      t.match(await ask({ ...ofAlice, hashes: [carrier] }), { isOurs: true }, 'ours carried it');

      await anvil.rpc('eth_sendTransaction', [{ from: bob.address, to: alice.address, gas: '0x30d40' }]);
      await anvil.rpc('anvil_mine', ['0x3']);
      t.match(await ask({ ...ofAlice, sequence: 1n }, 6n), {
        block: 4n,
        hash: null,
        isOurs: false,
        text: 'It was used by the account’s own code (EIP-7702) in block 4.'.replace('’', "'"),
      });
    },
  );

  t.test('a block that shows nobody proves nothing, unless the account has code', async (t) => {
    const { double, ask } = await open(t, using([]));
    for (const last of [60n, 110n, 100_000n]) t.equal(await ask(last), undefined, 'however deep it is');
    double.answer(using([], { eth_getCode: '0xef0100' }));
    t.match(await ask(110n), { block: 50n, hash: null });
    // A node that ignores the block in the request and always returns its latest count.
    double.answer(using([], { eth_getTransactionCount: '0x1', eth_getCode: '0xef0100' }));
    t.equal(await ask(110n), undefined);
  });

  t.test('a nonce used in the first block', async (t) => {
    const more = {
      eth_getTransactionCount: '0x1',
      eth_getBlockByNumber: (number: string) => ({
        number,
        hash: BLOCK_HASH,
        transactions: number === '0x0' ? [sentBy(OTHER)] : [],
      }),
    };
    const { ask } = await open(t, using([], more));
    t.match(await ask(), { block: 0n, hash: OTHER });
  });

  t.test('a count that says unused is that', async (t) => {
    const { ask } = await open(t, using([sentBy(OTHER)], { eth_getTransactionCount: '0x0' }));
    t.equal(await ask(), 'unused');
  });

  t.test('any version of ours in the block is no stranger', async (t) => {
    const versions = ['1', '2', '3'].map((digit) => `0x${digit.repeat(64)}`);
    const { double, ask } = await open(t, using([]));
    for (const hash of versions) {
      double.answer(using([sentBy(hash)]));
      t.match(await ask(100n, { ...lost, hashes: versions }), { hash, isOurs: true });
    }
    // The hash alone decides: one of ours in the block is included, even if its sender does not match.
    double.answer(using([{ hash: HASH, from: `0x${'b'.repeat(40)}`, nonce: '0x0' }]));
    t.match(await ask(), { isOurs: true });
  });

  t.test('a node that cannot answer one look-up is asked again, and proves nothing', async (t) => {
    for (const method of ['eth_getTransactionReceipt', 'eth_getTransactionByHash', 'eth_getBlockByNumber']) {
      for (const failure of ['hang-up', { status: 500 }, { result: {} }] as const) {
        const { ask } = await open(t, (call) => (call.method === method ? failure : using([sentBy(OTHER)])(call)));
        await t.rejects(ask(), { name: 'RpcError' }, method);
      }
    }
    const { ask } = await open(t, () => ({ status: 503 }));
    await t.rejects(ask(), { name: 'RpcError' });
  });

  /** The errors for pruned state of geth, reth, nethermind and besu, and for history expired under EIP-4444. */
  const PRUNED = [
    { code: -32_000, message: 'missing trie node 9a3c (path ) state 0x9a3c is not available, not found' },
    { code: -32_603, message: 'state at block #12 is pruned' },
    { code: -32_002, message: 'No state available for block 12' },
    { code: -32_000, message: 'World state unavailable' },
    { code: 4_444, message: 'pruned history unavailable' },
  ];

  t.test('where states are pruned a look-up by hash may still tell', async (t) => {
    for (const error of PRUNED) {
      const stateless: DoubleHandler = ({ params }) => (Number(params[1]) >= 90 ? { result: '0x1' } : { error });
      const handler = (transactions: unknown[], place: unknown): DoubleHandler => {
        const known = using(transactions, { eth_getTransactionByHash: () => place });
        return (call) => (call.method === 'eth_getTransactionCount' ? stateless(call) : known(call));
      };
      const { double, ask } = await open(t, handler([sentBy(HASH)], { blockNumber: '0x32' }));
      t.match(await ask(), { block: 50n, hash: HASH, isOurs: true }, error.message);
      double.answer(handler([sentBy(OTHER)], null));
      t.equal(await ask(), undefined, 'nobody tells where it was used');
      double.answer(handler([], { blockNumber: '0x32' }));
      t.equal(await ask(), undefined, 'the block that is named does not show it');
      double.answer(handler([sentBy(HASH)], { blockNumber: '0x32' }));
      t.equal(await ask(49n), undefined, 'that block is not final');
    }
  });

  t.test('where history is pruned too nothing is told', async (t) => {
    for (const error of PRUNED) {
      const { ask } = await open(t, ({ method, params }) =>
        method === 'eth_getTransactionCount' && Number(params[1]) >= 90 ? { result: '0x1' } : { error },
      );
      t.equal(await ask(), undefined, error.message);
    }
  });
});

t.test('receipts', async (t) => {
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
  function nodeOf(answers: Record<string, (param: Json) => Json>): { read: ReadFromEndpoint; asked: string[] } {
    const asked: string[] = [];
    const read: ReadFromEndpoint = async (method, params, parse) => {
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
    t.equal(undefinedIfRefused(new RpcError('node', 'no such method')), undefined);
    const late = new RpcError('timeout', 'late');
    t.throws(() => undefinedIfRefused(late), late);
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
});

// A final transaction is never checked again. So these tests try everything that another endpoint may say about it.
t.test('second endpoint', async (t) => {
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
      eth_getBlockByNumber: (number: string) =>
        Number(number) <= head ? { number, hash, transactions: listed } : null,
    });
  }

  async function open(t: Test, ...others: DoubleHandler[]) {
    const doubles = await Promise.all([node({}), ...others].map((handler) => startRpcDouble(handler)));
    const rpc = openRpc(doubles.map(({ url }) => url));
    t.teardown(() => Promise.all([rpc.close(), ...doubles.map((double) => double.stop())]));
    const ask = async (hashes: string[]) => {
      const claims = new Map(hashes.map((hash) => [hash, { account: FROM, receipt: receipt(hash) }]));
      return [...(await rpc.onOne((read) => corroboratedClaims(rpc, read, claims, 12n)))];
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
});

// A revert reason is text from a stranger in our answers, and many nodes cannot give it. Asking for it must neither
// harm nor delay anything.
t.test('revert', async (t) => {
  const HASH = `0x${'a'.repeat(64)}`;
  const FROM = '0x00000000000000000000000000000000000000a1';
  const TO = '0x00000000000000000000000000000000000000b0';
  const errorData = (text: string) => `0x08c379a0${AbiCoder.defaultAbiCoder().encode(['string'], [text]).slice(2)}`;
  const panicData = (code: number) => `0x4e487b71${AbiCoder.defaultAbiCoder().encode(['uint256'], [code]).slice(2)}`;

  const REQUEST: JsonObject = {
    to: TO,
    value: '0x5',
    data: '0x1234',
    gas_limit: null,
    gas_price: null,
    max_fee_per_gas: null,
    max_priority_fee_per_gas: null,
    speed: 'fast',
  };

  function failed(over: Partial<FailedTransaction> = {}): FailedTransaction {
    const fields = { chain_id: 1, from: FROM, gas_limit: 50_000, max_fee_per_gas: 9, max_priority_fee_per_gas: 2 };
    return { request: REQUEST, fields, hash: HASH, block: 10n, gasUsed: 40_000n, ...over };
  }

  async function open(t: Test, handler: DoubleHandler) {
    const double = await startRpcDouble(handler);
    const rpc = openRpc([double.url], { tries: 1, failureThreshold: 1 });
    t.teardown(() => Promise.all([rpc.close(), double.stop()]));
    const ask = (one = failed(), patienceMs?: number) => rpc.onOne((read) => revertReason(read, one, patienceMs));
    return { double, rpc, ask };
  }

  /** A node that answers one method and rejects every other. */
  const only =
    (method: string, answer: DoubleAnswer): DoubleHandler =>
    (call) =>
      call.method === method ? answer : { error: { code: -32_601, message: 'the method does not exist' } };

  t.test('the trace of the top call tells', async (t) => {
    const data = errorData('too "late"');
    const { double, ask } = await open(
      t,
      answersByMethod({ debug_traceTransaction: { output: data, error: 'execution reverted' } }),
    );
    t.same(await ask(), {
      reason: `Transaction reverted on-chain (revert_data: ${data}) — Error("too \\"late\\"")`,
      data,
    });
    t.same(
      double.calls.map(({ method }) => method),
      ['debug_traceTransaction'],
    );
    t.match(double.calls[0]?.params, [HASH, { tracer: 'callTracer' }]);
  });

  t.test('without traces the same call on the block’s state tells', async (t) => {
    const data = panicData(0x11);
    const forms: unknown[] = [data, `Reverted ${data}`, { data, message: 'x' }, { result: data }, { data: { data } }];
    for (const form of forms) {
      const answer = { error: { code: 3, message: 'execution reverted', data: form } };
      const { double, ask } = await open(t, only('eth_call', answer));
      const reason = `Transaction reverted on-chain (revert_data: ${data}) — Panic(0x11: arithmetic overflow)`;
      t.same(await ask(), { reason, data }, JSON.stringify(form));
      t.same(double.calls.at(-1)?.params, [
        {
          from: FROM,
          to: TO,
          value: '0x5',
          data: '0x1234',
          gas: '0xc350',
          maxFeePerGas: '0x9',
          maxPriorityFeePerGas: '0x2',
        },
        '0xa',
      ]);
    }
    const { double, ask } = await open(t, only('eth_call', { result: '0x' }));
    const legacy = { chain_id: 1, from: FROM, gas_limit: 50_000, gas_price: 7 };
    t.same(await ask(failed({ request: { ...REQUEST, to: null }, fields: legacy })), { reason: REVERTED, data: null });
    t.match(double.calls.at(-1)?.params, [{ gasPrice: '0x7' }]);
    const [creation] = double.calls.at(-1)?.params ?? [];
    t.notMatch(creation, { to: String }, 'a creation');
  });

  t.test('another cause than a revert is named behind the fixed text', async (t) => {
    for (const [error, reason] of [
      ['out of gas', `${REVERTED} — out of gas`],
      ['invalid opcode:\n\u001b[31m INVALID', `${REVERTED} — invalid opcode: [31m INVALID`],
      ['execution reverted', REVERTED],
    ] as const) {
      const { double, ask } = await open(t, answersByMethod({ debug_traceTransaction: { error } }));
      t.same(await ask(), { reason, data: null });
      t.equal(double.calls.length, 1, 'the trace is the last word');
    }
  });

  t.test('a node that cannot tell leaves the fixed text byte for byte, and is not blamed', async (t) => {
    const handlers: DoubleHandler[] = [
      () => ({ status: 403 }),
      () => ({ error: { code: -32_601, message: 'method not found' } }),
      () => ({ error: { code: -32_603, message: 'internal error' } }),
      () => 'hang-up',
      () => ({ body: '{"jsonrpc":"2.0","id":1,"resu' }),
      () => ({ result: null }),
      () => ({ result: [] }),
      () => ({ result: { output: '0xzz', error: 7 } }),
      () => ({ result: { output: '0x', error: 'execution reverted' } }),
      () => ({ error: { code: 3, message: 'execution reverted', data: '0x' } }),
    ];
    for (const handler of handlers) {
      const { double, rpc, ask } = await open(t, handler);
      t.same(
        await ask(),
        { reason: 'Transaction reverted on-chain (receipt status: failed)', data: null },
        String(handler),
      );
      double.answer(() => ({ result: '0x7' }));
      t.equal(await rpc.read('eth_blockNumber', []), '0x7', 'it still serves');
    }
  });

  t.test('what took all its gas ran out of it, unless a node knows better', async (t) => {
    const reason = `${REVERTED} — out of gas`;
    const all = failed({ gasUsed: 50_000n });
    for (const handler of [() => ({ status: 403 }), () => ({ result: null }), () => 'silence'] as DoubleHandler[]) {
      const { ask } = await open(t, handler);
      t.same(await ask(all, 100), { reason, data: null }, String(handler));
    }
    for (const error of ['execution reverted', 'invalid opcode: INVALID']) {
      const { ask } = await open(t, answersByMethod({ debug_traceTransaction: { error } }));
      t.notMatch((await ask(all)).reason, 'out of gas', error);
    }
    const data = errorData('late');
    const { ask } = await open(t, only('eth_call', { error: { code: 3, message: 'execution reverted', data } }));
    t.match(await ask(all), { data });
  });

  t.test('it never throws, and gives up in time', async (t) => {
    const { ask } = await open(t, () => 'silence');
    const startedAt = performance.now();
    t.same(await ask(failed(), 50), { reason: REVERTED, data: null });
    t.ok(performance.now() - startedAt < 8_000, 'long before the endpoint is given up');
    const thrower = () => Promise.reject(new RpcError('node', 'no', { data: { data: { data: { data: {} } } } }));
    t.same(await revertReason(thrower, failed()), { reason: REVERTED, data: null });
    t.same(await revertReason(thrower, failed({ fields: undefined })), { reason: REVERTED, data: null });
    t.same(await revertReason(thrower, failed({ request: { to: 7 } })), { reason: REVERTED, data: null });
  });

  t.test('what is shown and kept has an end', async (t) => {
    const output = `0x${'ab'.repeat(100_000)}`;
    const { ask } = await open(t, answersByMethod({ debug_traceTransaction: { output } }));
    const { reason, data } = await ask();
    const shown = output.slice(0, 4_096);
    t.equal(reason, `Transaction reverted on-chain (revert_data: ${shown}...(truncated))`);
    t.equal(data, shown);
  });

  t.test('errors of the given ABI are named, with their arguments', async (t) => {
    const fragments = [
      'error Empty()',
      'error TooMuch(address who, uint256 most, (bytes32 id, bool[] flags) about, string)',
      'function empty()',
    ];
    const contract = new Interface(fragments);
    const about = { id: HASH, flags: [true, false] };
    const data = contract.encodeErrorResult('TooMuch', [TO, 2n ** 255n, about, 'a\u0000b']);
    const text = `TooMuch(who: 0x00000000000000000000000000000000000000B0, most: ${2n ** 255n}, about: [${HASH}, [true, false]], "a\\u0000b")`;
    t.equal(decodeRevertData(data, fragments), text, 'as texts');
    const json = JSON.parse(contract.formatJson()) as JsonObject[];
    t.equal(decodeRevertData(data, json), text, 'as JSON');
    t.equal(decodeRevertData(contract.encodeErrorResult('Empty'), fragments), 'Empty()');

    const { ask } = await open(t, answersByMethod({ debug_traceTransaction: { output: data } }));
    const { reason } = await ask(failed({ request: { ...REQUEST, abi: fragments } }));
    t.ok(reason.endsWith(`${data}) — ${text}`));
  });

  t.test('what only looks like an error is left alone', async (t) => {
    const empty = new Interface(['error Empty(uint256 x)']).encodeErrorResult('Empty', [1]);
    const cases: [string, unknown][] = [
      ['0x08c379a0', []],
      [`0x08c379a0${'f'.repeat(128)}`, []],
      ['0x4e487b71', []],
      ['0x12', []],
      ['0x12345678', undefined],
      [empty, undefined],
      [empty, 'error Empty(uint256 x)'],
      [empty, [null, 7, {}, [], 'error', 'error Empty(uint257 x)', { type: 'function', name: 'Empty' }]],
      [empty.slice(0, 20), ['error Empty(uint256 x)']],
      [empty, ['error Empty(uint256[1000000000][1000000000] x)']],
      [empty, [`error Empty(uint256 ${'x'.repeat(5_000)})`]],
      [`0x08c379a0${'00'.repeat(40_000)}`, []],
    ];
    for (const [data, abi] of cases)
      t.equal(decodeRevertData(data, abi as never), undefined, JSON.stringify([data.slice(0, 80), abi]).slice(0, 200));
    t.equal(decodeRevertData(panicData(0x99)), 'Panic(0x99)');
    t.equal(decodeRevertData(panicData(1)), 'Panic(0x01: assertion failed)');
    const shouting = decodeRevertData(errorData(`a\r\n\u202e${'!'.repeat(5_000)}`));
    t.match(shouting, /^Error\("a\\r\\n !{900}/);
    t.ok(String(shouting).length < 1_100);
  });

  t.test('data that point to the same again and again are not decoded', async (t) => {
    const word = (value: number) => value.toString(16).padStart(64, '0');
    const decoded = (text: string, words: readonly number[]) => {
      const selector = new Interface([text]).getError('Many')?.selector;
      return decodeRevertData(`${selector}${words.map(word).join('')}`, [text]);
    };
    const layer = (next: readonly number[]) => [40, ...Array.from({ length: 40 }, () => 40 * 32), ...next];
    const last = [40, ...Array.from({ length: 40 }, () => 0)];
    t.match(decoded('error Many(uint256[] x)', [32, ...last]), /^Many\(x: \[0, 0/);
    t.match(decoded('error Many(uint256[][] x)', [32, 2, 64, 64, 1, 7]), 'Many(x: [[7], [7]])');
    t.equal(decoded('error Many(uint256[][] x)', [32, ...layer(last)]), undefined);
    t.equal(decoded('error Many(()[][][][] x)', [32, ...layer(layer(layer(last)))]), undefined);
    t.equal(decoded('error Many(bytes[] x)', [32, ...layer(last)]), undefined);
    t.equal(decoded('error Many(bytes x)', [32, 2, 0]), 'Many(x: 0x0000)');
    t.equal(decoded('error Many(()[2000][2000] x)', []), undefined);
    const nested = `error Many(${'('.repeat(1_800)}uint256${')'.repeat(1_800)} x)`;
    t.equal(decodeRevertData(`0x12345678${word(1)}`, [nested]), undefined, 'stored before there were bounds');
  });
});
