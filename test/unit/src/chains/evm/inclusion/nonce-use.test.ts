// The transaction that used a nonce decides whether a payment is lost. So these tests try everything that real nodes
// prune, hide or mix up.
import { Wallet } from 'ethers';
import t, { type Test } from 'tap';
import { type LostNonce, nonceUse } from '../../../../../../src/chains/evm/inclusion/nonce-use.ts';
import { startAnvil } from '../../../../../support/anvil.ts';
import { openRpc } from '../../../../../support/evm.ts';
import { answersByMethod, type DoubleHandler, startRpcDouble } from '../../../../../support/rpc-double.ts';

const ACCOUNT = '0x00000000000000000000000000000000000000a1';
const HASH = `0x${'a'.repeat(64)}`;
const OTHER = `0x${'b'.repeat(64)}`;
const BLOCK_HASH = `0x${'e'.repeat(64)}`;
const lost: LostNonce = { account: ACCOUNT, sequence: 0n, hashes: [HASH] };

async function open(t: Test, handler: DoubleHandler) {
  const double = await startRpcDouble(handler);
  const rpc = openRpc([double.url]);
  t.teardown(() => Promise.all([rpc.close(), double.stop()]));
  const ask = (last = 100n, of = lost) => rpc.onOne((read) => nonceUse(read, of, last));
  return { double, ask };
}

const sentBy = (hash: string) => ({ hash, from: ACCOUNT, nonce: '0x0' });

/** A node on which block 50 used the nonce. `transactions` are the content of that block. */
const using = (transactions: unknown[], more: Record<string, unknown> = {}, otherwise?: DoubleHandler): DoubleHandler =>
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
  const ask = (question: LostNonce, at: bigint) => rpc.onOne((read) => nonceUse(read, question, at));

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
    const ask = (question: LostNonce, at = 2n) => rpc.onOne((read) => nonceUse(read, question, at));
    const text = `It was used by an authorization (EIP-7702) in ${carrier} in block 1.`;
    t.match(await ask(ofAlice), { block: 1n, hash: carrier, isOurs: false, text });
    t.equal(await ask({ ...ofAlice, sequence: 7n }), 'unused', 'one for a nonce that is not there yet was passed over');
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
