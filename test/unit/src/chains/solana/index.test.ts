import t from 'tap';
import { createSolanaChain } from '../../../../../src/chains/solana/index.ts';

t.test('what the chain says of itself', async (t) => {
  const chain = createSolanaChain();
  t.match(chain, { type: 'solana', curve: 'ed25519', unit: 'lamport', counter: null });
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
