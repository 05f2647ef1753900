import { hash } from 'node:crypto';
import t from 'tap';
import { createStellarChain } from '../../../../../src/chains/stellar/index.ts';
import { openStellar } from '../../../../support/stellar-client.ts';

t.test('what the chain says of itself', async (t) => {
  const chain = createStellarChain();
  t.match(chain, {
    type: 'stellar',
    curve: 'ed25519',
    unit: 'stroop',
    sequence: { statusKey: 'sequence_number', failure: { type: 'SequenceSyncFailed' } },
  });
  t.equal(chain.minimumBalance({ fee_payment_strategy: 'user', min_balance: 5 }), 5n);
  t.equal(chain.minimumBalance({ fee_payment_strategy: 'user' }), 1_000_000n);
  t.equal(chain.marketUrl?.({ settings: { horizon_url: 'https://horizon.test' } }), 'https://horizon.test');
  t.equal(chain.marketUrl?.({ settings: {} }), null);
  t.strictSame(chain.pace.anchors, { sequence: 1, text: 512 }, 'a ledger takes one of an account');
});

/** The hashes of the network passphrases, as Stellar publishes them. Every signature binds this hash. */
const NETWORK_IDS: Record<string, string> = {
  mainnet: '7ac33997544e3175d266bd022439b22cdb16508c01163f26e5cb2a3e1045a979',
  testnet: 'cee0302d59844d32bdca915c8203dd44b33fbb7edc19051ea37abedf28ecd472',
  futurenet: 'a3a1c6a78286713e29be0e9785670fa838d13917cd8eaeb4a3579ff1debc7fd5',
};

t.test('the built-in networks', async (t) => {
  const chain = createStellarChain();
  t.strictSame(
    chain.builtInNetworks.map(({ network, rpc_urls: urls }) => [network, urls]),
    [
      ['mainnet', ['https://mainnet.sorobanrpc.com']],
      ['testnet', ['https://soroban-testnet.stellar.org']],
      ['futurenet', ['https://rpc-futurenet.stellar.org']],
      ['standalone', ['http://localhost:8000/rpc']],
    ],
  );
  const passphrases = new Map<unknown, unknown>();
  for (const { type, network, rpc_urls: _, ...settings } of chain.builtInNetworks) {
    t.equal(type, 'stellar');
    t.match(chain.networkSchema.parse(settings), { is_testnet: network !== 'mainnet', horizon_url: /^https?:/ });
    passphrases.set(network, settings['passphrase']);
  }
  for (const [network, id] of Object.entries(NETWORK_IDS)) {
    t.equal(hash('sha256', String(passphrases.get(network)), 'hex'), id, network);
  }
  t.equal(passphrases.get('standalone'), 'Standalone Network ; February 2017');
});

t.test('texts and typed data are not signed, which it says in the words that clients know', async (t) => {
  const chain = createStellarChain();
  t.equal(chain.signMessage, undefined);
  t.equal(chain.signTypedData, undefined);
  t.strictSame(chain.description.refusals, {
    message: 'Signing data not supported for Stellar',
    typedData: 'Signing typed data not supported for Stellar',
  });
});

t.test('it is looked for as often as the ledgers of its network ask for', async (t) => {
  for (const [blockTime, lookMs] of [
    [undefined, 1_000],
    [6_000, 1_000],
    [1_000, 200],
    [50, 100],
  ]) {
    const settings = blockTime === undefined ? {} : { average_blocktime_ms: blockTime };
    const { client, close } = openStellar(['http://127.0.0.1:9'], settings);
    t.equal(client.lookMs, lookMs);
    await close();
  }
});
