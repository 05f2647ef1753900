import { Wallet } from 'ethers';
import t from 'tap';
import { RpcError } from '../../src/egress/rpc/rpc-client.ts';
import { startAnvil } from '../support/anvil.ts';
import { openRpc } from '../support/evm.ts';

t.test('a real node takes batches of reads and of offers, each call with its own answer', async (t) => {
  const anvil = await startAnvil({ args: ['--no-mining'] });
  t.teardown(() => anvil.stop());
  const rpc = openRpc([anvil.url], { timeoutMs: 20_000 });
  t.teardown(() => rpc.close());
  const [account] = anvil.accounts;
  const wallet = new Wallet(account?.privateKey ?? '');
  const signed = await Promise.all(
    Array.from({ length: 120 }, (_, nonce) =>
      wallet.signTransaction({
        type: 2,
        chainId: 31_337,
        nonce,
        to: `0x${'11'.repeat(20)}`,
        value: 1n,
        gasLimit: 21_000n,
        maxFeePerGas: 10_000_000_000n,
        maxPriorityFeePerGas: 1_000_000_000n,
      }),
    ),
  );

  const settled = await rpc.offerAll(
    'eth_sendRawTransaction',
    signed.map((raw) => [raw]),
  );
  t.ok(settled.every(({ status }) => status === 'fulfilled'));
  const hashes = settled.map((entry) => (entry.status === 'fulfilled' ? entry.value : null));
  await anvil.rpc('anvil_mine', ['0x1']);

  const receipts = await Promise.all(
    hashes.map((hash) =>
      rpc.read('eth_getTransactionReceipt', [hash], (answer) => answer as { transactionHash: string }),
    ),
  );
  t.same(
    receipts.map(({ transactionHash }) => transactionHash),
    hashes,
  );

  const again = await rpc.offerAll('eth_sendRawTransaction', [[signed[0] ?? ''], ['0x02'], [signed[1] ?? '']]);
  t.ok(
    again.every(
      (entry) => entry.status === 'rejected' && entry.reason instanceof RpcError && entry.reason.kind === 'node',
    ),
  );
  t.match(again, [
    { reason: { message: /nonce too low/ } },
    { reason: { kind: 'node' } },
    { reason: { message: /nonce too low/ } },
  ]);
  t.match(await rpc.offerEach('eth_sendRawTransaction', [[signed[0] ?? '']]), [
    [{ reason: { message: /nonce too low/ } }],
  ]);

  const [chain, failed] = await Promise.allSettled([rpc.read('eth_chainId', []), rpc.read('eth_noSuchMethod', [])]);
  t.match(chain, { value: '0x7a69' });
  t.match(failed, { reason: { kind: 'node', code: -32_601 } });
});
