import t from 'tap';
import { createSolanaChain } from '../../../../../src/chains/solana/index.ts';
import { FakeSigner } from '../../../../support/fake-signer.ts';

t.test('what the chain says of itself', async (t) => {
  const chain = createSolanaChain();
  t.match(chain, { type: 'solana', curve: 'ed25519', unit: 'lamport', counter: undefined });
  t.equal(chain.minimumBalance({ min_balance: 5 }), null, 'nothing is asked of a network yet');
  t.throws(() => chain.parseRequest({}, { address: '', policies: {} }, 0), { code: 'NOT_AVAILABLE_YET' });
});

t.test('the built-in networks', async (t) => {
  const chain = createSolanaChain();
  t.strictSame(
    chain.builtInNetworks.map(({ network, rpc_urls: urls }) => [network, urls]),
    [
      ['mainnet-beta', ['https://api.mainnet-beta.solana.com']],
      ['testnet', ['https://api.testnet.solana.com']],
      ['devnet', ['https://api.devnet.solana.com']],
      ['localnet', ['http://localhost:8899']],
    ],
  );
  for (const { type, network, rpc_urls: _, ...settings } of chain.builtInNetworks) {
    t.equal(type, 'solana');
    t.match(chain.networkSchema.parse(settings), { is_testnet: network !== 'mainnet-beta', average_blocktime_ms: 400 });
  }
});

t.test('texts and typed data are refused in the words that clients know', async (t) => {
  const chain = createSolanaChain();
  const [account, signer] = [{ address: '', policies: {} }, new FakeSigner()];
  const refused = { code: 'INVALID_REQUEST', status: 400 };
  await t.rejects(async () => chain.signMessage?.({}, account, signer), {
    ...refused,
    message: 'Endpoint is not supported for Solana relayers',
  });
  await t.rejects(async () => chain.signTypedData?.({}, account, signer), {
    ...refused,
    message: 'Endpoint is not supported for Solana relayers',
  });
});
