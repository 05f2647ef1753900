import t from 'tap';
import { networkView } from '../../../../../src/features/networks/network-view.ts';

t.test('keys come in the reference’s order, and what may be a key of an endpoint is hidden', (t) => {
  const view = networkView({
    type: 'evm',
    name: 'Mine',
    rpcUrls: [
      { url: 'https://mainnet.example/v3/0123456789abcdef', weight: 60 },
      { url: 'https://api.example/ext/bc/C/rpc', weight: 40 },
    ],
    settings: { symbol: 'ETH', chain_id: 5, tags: ['t'], explorer_urls: ['https://scan.example'], is_testnet: true },
    source: 'api',
  });
  t.equal(
    JSON.stringify(view),
    JSON.stringify({
      id: 'evm:mine',
      name: 'Mine',
      network_type: 'evm',
      rpc_urls: [
        { url: 'https://mainnet.example/v3/***', weight: 60 },
        { url: 'https://api.example/ext/bc/C/rpc', weight: 40 },
      ],
      explorer_urls: ['https://scan.example'],
      is_testnet: true,
      tags: ['t'],
      symbol: 'ETH',
      chain_id: 5,
      source: 'api',
    }),
  );
  t.end();
});

t.test('relays are shown without what may be a key in their addresses', (t) => {
  const [url, method] = ['https://relay.example/v1/0123456789abcdef', 'eth_sendPrivateTransaction'];
  const settings = { private_rpc_urls: [url, { url, method }] };
  t.match(networkView({ type: 'evm', name: 'mine', rpcUrls: [], settings, source: 'file' }), {
    private_rpc_urls: ['https://relay.example/v1/***', { url: 'https://relay.example/v1/***', method }],
  });
  t.end();
});
