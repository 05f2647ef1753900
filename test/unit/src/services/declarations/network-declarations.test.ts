import t, { type Test } from 'tap';
import type { ConfiguredNetwork, StoredNetwork } from '../../../../../src/domain/network.ts';
import { createLog } from '../../../../../src/observability/log.ts';
import { applyNetworks } from '../../../../../src/services/declarations/network-declarations.ts';
import { urlsDigest } from '../../../../../src/services/settings/networks.ts';
import { relayerOf, storeFor } from '../../../../support/store.ts';

const URLS = [{ url: 'https://declared.example', weight: 100 }];
const declared = (name: string, isBuiltIn = false): ConfiguredNetwork => ({
  type: 'evm',
  name,
  rpcUrls: URLS,
  settings: {},
  isBuiltIn,
});
const stored = (name: string, settings: StoredNetwork['settings'], declaration: string | null): StoredNetwork => ({
  type: 'evm',
  name,
  rpcUrls: [{ url: 'https://changed.example', weight: 1 }],
  settings,
  declaration,
});

async function stage(t: Test, ...networks: StoredNetwork[]) {
  const store = await storeFor(t);
  await store.write(async (writer) => {
    for (const network of networks) await writer.putNetwork(network);
    await writer.putRelayer(relayerOf({ network: 'used' }));
  });
  const lines: string[] = [];
  const log = createLog('info', { write: (line) => void lines.push(line) });
  const apply = async (configured: ConfiguredNetwork[], options = {}) => {
    await applyNetworks(store, configured, log, options);
    return (await store.read.storedNetworks()).map(({ name }) => name).toSorted();
  };
  return { apply, lines };
}

t.test('a file that says what it said before leaves what clients made of it', async (t) => {
  const { apply, lines } = await stage(t, stored('mine', null, urlsDigest(URLS)), stored('sepolia', null, null));
  t.strictSame(await apply([declared('mine'), declared('sepolia', true)]), ['mine', 'sepolia']);
  t.strictSame(lines, []);
});

t.test('what a file says anew counts', async (t) => {
  const { apply, lines } = await stage(
    t,
    stored('mine', null, urlsDigest([])),
    stored('sepolia', null, null),
    stored('custom', {}, null),
  );
  t.strictSame(await apply([declared('mine'), declared('sepolia'), declared('custom')]), []);
  t.equal(lines.length, 3);
  t.match(lines[0], /"network":"evm:\w+".*as the configuration declares it/);
});

t.test('a declaration that is gone deletes nothing', async (t) => {
  const { apply } = await stage(t, stored('mine', null, urlsDigest(URLS)), stored('custom', {}, null));
  t.strictSame(await apply([]), ['custom', 'mine']);
});

t.test('with a reset all is as the files say, but what relayers are on', async (t) => {
  const { apply } = await stage(
    t,
    stored('mine', null, urlsDigest(URLS)),
    stored('custom', {}, null),
    stored('used', {}, null),
  );
  t.strictSame(await apply([declared('mine')], { reset: true }), ['used']);
});
