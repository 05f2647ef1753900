import t from 'tap';
import { providerFailed, withProvider } from '../../../../src/chains/provider-failure.ts';
import { RpcError } from '../../../../src/egress/rpc/rpc-client.ts';

t.test('failures of the endpoints get the service’s form, others stay what they are', async (t) => {
  const fault = new RangeError('a fault of our own');
  await t.rejects(
    withProvider('sepolia', async () => {
      throw new RpcError('timeout', 'https://rpc.example.com: no answer within 10000 ms');
    }),
    {
      code: 'PROVIDER_FAILED',
      message: 'The RPC endpoints of network sepolia failed: https://rpc.example.com: no answer within 10000 ms',
    },
  );
  await t.rejects(
    withProvider('sepolia', () => Promise.reject(fault)),
    fault,
  );
  t.equal(await withProvider('sepolia', async () => 7), 7);
  t.match(providerFailed('sepolia', 'why'), { details: { network: 'sepolia', reason: 'why' } });
});
