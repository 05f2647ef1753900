import t from 'tap';
import { NetworkDirectory, networkIdOf } from '../../../../../src/features/networks/network-directory.ts';
import type { ConfiguredNetwork, StoredNetwork } from '../../../../../src/features/networks/record.ts';

const url = (name: string) => [{ url: `https://${name}.example`, weight: 100 }];
const configured = (name: string, isBuiltIn: boolean): ConfiguredNetwork => ({
  type: 'evm',
  name,
  rpcUrls: url(name),
  settings: { of: name },
  isBuiltIn,
});
const stored = (name: string, given: Partial<StoredNetwork> = {}): StoredNetwork => ({
  type: 'evm',
  name,
  rpcUrls: url(`new-${name}`),
  settings: { of: name },
  declaration: null,
  ...given,
});

async function directoryOf(...networks: StoredNetwork[]) {
  const all = [configured('sepolia', true), configured('mainnet', true), configured('Mine', false)];
  const directory = new NetworkDirectory(all, { storedNetworks: async () => networks });
  await directory.reload();
  return directory;
}

t.test('those of clients come first, then those of the files, then the built-in ones', async (t) => {
  const directory = await directoryOf(stored('b'), stored('a'));
  t.strictSame(
    directory.list().map(({ name, source }) => [name, source]),
    [
      ['b', 'api'],
      ['a', 'api'],
      ['Mine', 'file'],
      ['mainnet', 'built-in'],
      ['sepolia', 'built-in'],
    ],
  );
  t.match(directory.find('evm', 'a'), { rpcUrls: url('new-a'), source: 'api' });
  t.equal(directory.find('solana', 'a'), undefined);
});

t.test('the endpoints of a configured one may be a client’s, all else is the configuration’s', async (t) => {
  const directory = await directoryOf(
    stored('mainnet', { settings: null }),
    stored('Mine', { settings: { of: 'a client' }, declaration: 'x' }),
    stored('gone', { settings: null }),
  );
  t.match(directory.find('evm', 'mainnet'), { rpcUrls: url('new-mainnet'), settings: { of: 'mainnet' } });
  t.match(directory.find('evm', 'Mine'), { rpcUrls: url('new-Mine'), settings: { of: 'Mine' }, source: 'file' });
  t.equal(directory.list().length, 3);
  t.equal(directory.find('evm', 'gone'), undefined);
  t.match(directory.configured('evm', 'mainnet'), { rpcUrls: url('mainnet') });
  t.equal(directory.configured('evm', 'gone'), undefined);
});

t.test('an id is in lower case, and leads to the network whatever its name is', async (t) => {
  const directory = await directoryOf(stored('mine'));
  t.equal(networkIdOf({ type: 'evm', name: 'Mine' }), 'evm:mine');
  t.equal(directory.withId('evm:mine')?.name, 'mine', 'the very name comes first');
  t.equal((await directoryOf()).withId('evm:mine')?.name, 'Mine');
  t.equal(directory.withId('evm:Mine')?.name, 'Mine');
  t.equal(directory.withId('evm:nothing'), undefined);
});
