import t from 'tap';
import { fixedNetworks } from '../../../../src/domain/network.ts';

t.test('a network is found by type and name', (t) => {
  const one = { type: 'evm', name: 'one', rpcUrls: [], settings: {} } as const;
  const networks = fixedNetworks([{ ...one, rpcUrls: [] }]);
  t.match(networks.find('evm', 'one'), one);
  t.equal(networks.find('solana', 'one'), undefined);
  t.equal(networks.find('evm', 'two'), undefined);
  t.end();
});
