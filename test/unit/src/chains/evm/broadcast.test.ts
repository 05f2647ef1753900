import t from 'tap';
import { broadcast } from '../../../../../src/chains/evm/broadcast.ts';
import type { Attempt } from '../../../../../src/domain/transaction.ts';
import { startAnvil } from '../../../../support/anvil.ts';
import { openEvm, openRpc, signerOf, storedAttempt, storedTransaction } from '../../../../support/evm.ts';
import { type DoubleHandler, startRpcDouble } from '../../../../support/rpc-double.ts';

const HASH = `0x${'a'.repeat(64)}`;
const ATTEMPT: Attempt = {
  transactionId: 't',
  ordinal: 1,
  lane: 'l',
  sequence: 0n,
  raw: '0x02',
  hash: HASH,
  createdAt: 0,
  acceptedAt: null,
};

t.test('a real node: accepted, known, used, underpriced, out of order, out of funds', async (t) => {
  const anvil = await startAnvil({ args: ['--no-mining'] });
  const [alice] = anvil.accounts;
  if (alice === undefined) throw new Error('anvil has accounts');
  const { client, rpc } = openEvm([anvil.url]);
  t.teardown(() => Promise.all([rpc.close(), anvil.stop()]));
  const account = { address: alice.address, policies: {} };
  const offer = async (nonce: bigint, body: { value: number | string; gas_price: number }) => {
    const transaction = storedTransaction(account, { to: alice.address, gas_limit: 21_000, ...body });
    const fields = { chain_id: 31_337, from: alice.address, gas_limit: 21_000, gas_price: body.gas_price };
    const signed = await client.sign(transaction, fields, nonce, signerOf(alice));
    return client.broadcast(storedAttempt(transaction, nonce, signed.raw, signed.hash));
  };
  const price = 3_000_000_000;
  t.same(await offer(0n, { value: 1, gas_price: price }), { kind: 'accepted' });
  t.same(await offer(0n, { value: 1, gas_price: price }), { kind: 'accepted' }, 'the same bytes again');
  t.match(await offer(0n, { value: 2, gas_price: price }), { kind: 'underpriced' }, 'another with the same nonce');
  t.match(await offer(1n, { value: `1${'0'.repeat(30)}`, gas_price: price }), {
    kind: 'refused',
    reason: /insufficient funds/i,
  });
  await anvil.rpc('anvil_mine', ['0x1']);
  t.match(await offer(0n, { value: 3, gas_price: price }), { kind: 'sequence-used', reason: /nonce too low/i });
});

t.test('only an answer says something', async (t) => {
  const double = await startRpcDouble(() => ({ result: HASH }));
  const rpc = openRpc([double.url], { tries: 3, timeoutMs: 200 });
  t.teardown(() => Promise.all([rpc.close(), double.stop()]));
  const silences: [DoubleHandler, string][] = [
    [() => ({ result: HASH }), 'accepted'],
    [() => ({ result: `0x${'b'.repeat(64)}` }), 'unknown'],
    [() => ({ result: null }), 'unknown'],
    [() => 'silence', 'unknown'],
    [() => 'hang-up', 'unknown'],
    [() => ({ status: 502, body: 'nonce too low' }), 'unknown'],
    [() => ({ error: { code: -32_603, message: 'nonce too low' }, status: 500 }), 'sequence-used'],
  ];
  for (const [handler, kind] of silences) {
    double.answer(handler);
    const before = double.calls.length;
    t.match(await broadcast(rpc, ATTEMPT), { kind });
    t.equal(double.calls.length, before + 1, 'it left exactly once');
  }
});
