import t from 'tap';
import { createChains } from '../../../src/chains/registry.ts';
import type { RelayerEntry } from '../../../src/config/configuration.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import { createLog } from '../../../src/observability/log.ts';
import { openSettings, type SettingsParts } from '../../../src/open-settings.ts';
import { rawKeySignerKind } from '../../../src/signers/raw-key.ts';
import type { SignerKinds } from '../../../src/signers/registry.ts';
import { Teardown } from '../../../src/teardown.ts';
import { signerTools } from '../../support/signer-tools.ts';
import { storeFor } from '../../support/store.ts';

const KEY = 'ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80';
const kinds: SignerKinds = new Map([['plain', rawKeySignerKind]]);

t.test('what the configuration declares is stored, with the addresses of its signers', async (t) => {
  const store = await storeFor(t);
  const opened = new Teardown();
  t.teardown(() => opened.close());
  const relayer: RelayerEntry = {
    id: 'r1',
    name: 'r1',
    network: 'n',
    networkType: 'evm',
    paused: false,
    signerId: 'k1',
    policies: {},
    notificationId: 'hook',
    customRpcUrls: null,
    declaration: {},
  };
  const parts: SettingsParts = {
    configuration: {
      environment: { RESET_STORAGE_ON_START: false } as SettingsParts['configuration']['environment'],
      relayers: [relayer],
      signers: [{ id: 'k1', type: 'plain', config: { key: { type: 'plain', value: KEY } } }],
      notifications: [{ id: 'hook', type: 'webhook', url: 'https://hooks.example' }],
      plugins: [],
      networks: [{ type: 'evm', name: 'n', rpcUrls: [], settings: {}, isBuiltIn: false }],
    },
    chains: createChains(systemClock),
    signerKinds: kinds,
    signerTools: signerTools(KEY),
    clientHttp: signerTools().http,
    store,
    log: createLog('silent'),
  };
  const { networks, signers, feed } = await openSettings(parts, opened);
  t.match(await store.read.relayer('r1'), { address: /^0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266$/i });
  t.ok(await store.read.notification('hook'));
  t.equal((await signers.signer('k1')).id, 'k1');
  t.ok(networks.find('evm', 'n'));
  await store.write((writer) =>
    writer.putNetwork({ type: 'evm', name: 'new', rpcUrls: [], settings: {}, declaration: null }),
  );
  await feed.changed('network');
  t.ok(networks.find('evm', 'new'));
  t.match(await store.read.allSigners(), []);
  await t.rejects(openSettings({ ...parts, chains: new Map() }, opened), {
    message: 'Relayer r1: no chain family evm',
  });
});
