import { randomUUID } from 'node:crypto';
import type { Test } from 'tap';
import { createChains } from '../../src/chains/registry.ts';
import { systemClock } from '../../src/domain/clock.ts';
import { createAddressGuard } from '../../src/egress/address-guard.ts';
import { NetworkDirectory } from '../../src/features/networks/network-directory.ts';
import type { ConfiguredNetwork } from '../../src/features/networks/record.ts';
import { RelayerDirectory } from '../../src/features/relayers/relayer-access.ts';
import { createRelayerCreate } from '../../src/features/relayers/relayer-create.ts';
import { createRelayerDelete } from '../../src/features/relayers/relayers.ts';
import { SignerDirectory } from '../../src/features/signers/signer-directory.ts';
import { createLog } from '../../src/observability/log.ts';
import { createSignerKinds } from '../../src/signers/registry.ts';
import type { Store } from '../../src/store/store.ts';
import { OPERATOR } from './caller.ts';
import { EngineWorld } from './engine-world.ts';
import { signerTools } from './signer-tools.ts';
import { notificationOf } from './store.ts';

/** The first account of anvil. */
const KEY = 'ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80';
export const ACCOUNT = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266';

const networkOf = (type: ConfiguredNetwork['type'], name: string): ConfiguredNetwork => ({
  type,
  name,
  rpcUrls: [{ url: 'https://rpc.example', weight: 100 }],
  settings: {},
  isBuiltIn: true,
});

/** Makes a signer with the key of {@link ACCOUNT}. */
export async function putSigner(store: Pick<Store, 'write'>, id: string): Promise<void> {
  const config = { key: { type: 'plain', value: KEY } };
  await store.write((writer) => writer.insertSigner({ id, type: 'plain', stamp: `of ${id}`, shown: {} }, config));
}

/** A stage for creating and deleting relayers of the real families, with signer `key` and notification `hook-1`. */
export async function settingsStage(t: Test) {
  const world = await EngineWorld.open(t);
  const { store } = world;
  await store.write((writer) => writer.putNotification(notificationOf()));
  await putSigner(store, 'key');
  const chains = createChains(systemClock);
  const connections = { clientOf: () => world.client, close: async () => {} };
  const networks = new NetworkDirectory(
    [networkOf('evm', 'mainnet'), networkOf('evm', 'sepolia'), networkOf('solana', 'devnet')],
    store.read,
  );
  const signers = new SignerDirectory({
    declared: { ring: { signer: () => world.signer }, entries: [{ id: 'file', type: 'local', config: {} }] },
    read: store.read,
    kinds: createSignerKinds(),
    tools: signerTools(),
    log: createLog('silent'),
  });
  t.teardown(() => signers.close());
  const rechecked: string[] = [];
  const shared = {
    store,
    chains,
    connections,
    networks,
    signers,
    newId: randomUUID,
    relayers: new RelayerDirectory({ read: store.read, chains, connections }),
    engine: { recheck: (id: string) => void rechecked.push(id) },
    rpcGuard: createAddressGuard({ allowedHosts: [], blockPrivate: true }),
  };
  const [create, remove] = [createRelayerCreate(shared), createRelayerDelete(shared)];
  return {
    world,
    store,
    networks,
    rechecked,
    create: (body: unknown, by = OPERATOR) => create(body, by),
    remove: (id: string, by = OPERATOR) => remove(id, by),
    audit: async () => (await store.read.auditRecords({ before: null, limit: 9 }, { resource: 'relayer' })).items,
  };
}
