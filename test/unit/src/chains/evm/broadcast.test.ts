import t from 'tap';
import { broadcast } from '../../../../../src/chains/evm/broadcast.ts';
import type { RpcClient } from '../../../../../src/egress/rpc/rpc-client.ts';
import { type Attempt, UNACCEPTED_ATTEMPT } from '../../../../../src/features/transactions/records/attempt.ts';
import { startAnvil } from '../../../../support/anvil.ts';
import { openEvm, openRpc, signerOf, storedAttempt, storedTransaction } from '../../../../support/evm.ts';
import { type DoubleHandler, startRpcDouble } from '../../../../support/rpc-double.ts';

const hashOf = (index: number) => `0x${'ab'.repeat(31)}${index.toString(16).padStart(2, '0')}`;

function attempt(index: number): Attempt {
  const stored = { transactionId: 't', ordinal: 1, lane: 'l', createdAt: 0, ...UNACCEPTED_ATTEMPT };
  const version = { purpose: 'send', request: {}, fields: {} } as const;
  const anchor = { kind: 'sequence', sequence: BigInt(index) } as const;
  return { ...stored, ...version, anchor, raw: '0x02', hash: hashOf(index) };
}

const NO_RELAYS = new Map<string, RpcClient>();

t.test('a real node: accepted, known, used, underpriced, out of order, out of funds', async (t) => {
  const anvil = await startAnvil({ args: ['--no-mining'] });
  const [alice] = anvil.accounts;
  if (alice === undefined) throw new Error('anvil has accounts');
  const { client, rpc } = openEvm([anvil.url]);
  t.teardown(() => Promise.all([rpc.close(), anvil.stop()]));
  const account = { address: alice.address, policies: {} };
  const sign = async (nonce: bigint, body: { value: number | string; gas_price: number }) => {
    const transaction = storedTransaction(account, { to: alice.address, gas_limit: 21_000, ...body });
    const fields = { chain_id: 31_337, from: alice.address, gas_limit: 21_000, gas_price: body.gas_price };
    const signed = await client.sign(transaction, fields, { kind: 'sequence', sequence: nonce }, signerOf(alice));
    return storedAttempt(transaction, nonce, signed.raw, signed.hash);
  };
  const price = 3_000_000_000;
  const first = await sign(0n, { value: 1, gas_price: price });
  t.same(await broadcast({ rpc, relays: NO_RELAYS }, [first]), [{ kind: 'accepted', by: anvil.url }]);
  const rest = [
    first,
    await sign(0n, { value: 2, gas_price: price }),
    await sign(1n, { value: `1${'0'.repeat(30)}`, gas_price: price }),
    await sign(1n, { value: 3, gas_price: price }),
  ];
  t.match(await broadcast({ rpc, relays: NO_RELAYS }, rest), [
    { kind: 'accepted' },
    { kind: 'underpriced' },
    { kind: 'unfunded', reason: /insufficient funds/i },
    { kind: 'accepted' },
  ]);
  await anvil.rpc('anvil_mine', ['0x1']);
  const [late] = await broadcast({ rpc, relays: NO_RELAYS }, [await sign(0n, { value: 3, gas_price: price })]);
  t.match(late, { kind: 'anchor-used', reason: /nonce too low/i });
});

t.test('over the wire only an answer says something', async (t) => {
  const silences: [DoubleHandler, string][] = [
    [() => ({ result: hashOf(0) }), 'accepted'],
    [() => ({ result: hashOf(0).toUpperCase().replace('X', 'x') }), 'accepted'],
    [() => ({ result: hashOf(1) }), 'unknown'],
    [() => ({ result: null }), 'unknown'],
    [() => 'silence', 'unknown'],
    [() => 'hang-up', 'unknown'],
    [() => ({ status: 502, body: 'nonce too low' }), 'unknown'],
    [() => ({ status: 429, body: 'nonce too low' }), 'busy'],
    [() => ({ error: { code: -32_603, message: 'nonce too low' }, status: 500 }), 'anchor-used'],
  ];
  for (const [handler, kind] of silences) {
    const double = await startRpcDouble(handler);
    const rpc = openRpc([double.url], { tries: 3, timeoutMs: 200 });
    t.match(await broadcast({ rpc, relays: NO_RELAYS }, [attempt(0)]), [{ kind }], String(handler));
    await Promise.all([rpc.close(), double.stop()]);
  }
});

t.test('words that nobody knows are clear when every endpoint says such, and none has the bytes', async (t) => {
  const declining: DoubleHandler = ({ method }) =>
    method === 'eth_getTransactionByHash' ? { result: null } : { error: { code: -32_000, message: 'declined' } };
  const holding: DoubleHandler = ({ method }) =>
    method === 'eth_getTransactionByHash'
      ? { result: { blockNumber: null } }
      : { error: { code: -32_000, message: 'declined' } };
  const mute: DoubleHandler = ({ method }) =>
    method === 'eth_getTransactionByHash' ? 'hang-up' : { error: { code: -32_000, message: 'declined' } };
  const troubled: DoubleHandler = () => ({ error: { code: -32_603, message: 'Internal error' } });
  for (const [handlers, isClear] of [
    [[declining], true],
    [[declining, declining], true],
    [[declining, holding], false],
    [[declining, mute], false],
    [[declining, troubled], false],
    [[declining, () => 'hang-up'], false],
  ] as [DoubleHandler[], boolean][]) {
    const doubles = await Promise.all(handlers.map((handler) => startRpcDouble(handler)));
    const rpc = openRpc(doubles.map(({ url }) => url));
    t.teardown(() => Promise.all([rpc.close(), ...doubles.map((double) => double.stop())]));
    const [outcome] = await broadcast({ rpc, relays: NO_RELAYS }, [attempt(0)]);
    t.match(outcome, { kind: 'unknown' });
    t.equal(outcome?.kind === 'unknown' && outcome.isClear === true, isClear, String(handlers));
  }
});

t.test('a refused figure outweighs another refusal: it can be chosen anew', async (t) => {
  const saying =
    (message: string): DoubleHandler =>
    () => ({ error: { code: -32_000, message } });
  const doubles = await Promise.all(
    [saying('transaction type not supported'), saying('intrinsic gas too low')].map((one) => startRpcDouble(one)),
  );
  const rpc = openRpc(doubles.map(({ url }) => url));
  t.teardown(() => Promise.all([rpc.close(), ...doubles.map((double) => double.stop())]));
  t.match(await broadcast({ rpc, relays: NO_RELAYS }, [attempt(0)]), [
    { kind: 'refused', isFigure: true, reason: 'intrinsic gas too low' },
  ]);
});
