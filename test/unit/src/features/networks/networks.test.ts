import t, { type Test } from 'tap';
import { createChains } from '../../../../../src/chains/registry.ts';
import { systemClock } from '../../../../../src/domain/clock.ts';
import { createAddressGuard } from '../../../../../src/egress/address-guard.ts';
import { NetworkDirectory } from '../../../../../src/features/networks/network-directory.ts';
import { networkResource, networkView, rpcUrlsDigest } from '../../../../../src/features/networks/networks.ts';
import type { ConfiguredNetwork } from '../../../../../src/features/networks/record.ts';
import { SettingsFeed } from '../../../../../src/features/settings-feed.ts';
import { createLog } from '../../../../../src/observability/log.ts';
import { OPERATOR, operatorOnce } from '../../../../support/caller.ts';
import { EngineWorld, relayerNamed } from '../../../../support/engine-world.ts';
import { keyedEffect } from '../../../../support/keyed-effect.ts';

const configured = (name: string, isBuiltIn: boolean): ConfiguredNetwork => ({
  type: 'evm',
  name,
  rpcUrls: [{ url: `https://${name}.example`, weight: 100 }],
  settings: { chain_id: 11_155_111, symbol: 'ETH', average_blocktime_ms: 12_000, tags: ['parent'] },
  isBuiltIn,
});

async function stage(t: Test) {
  const world = await EngineWorld.open(t);
  const { store } = world;
  const feed = new SettingsFeed({ store, log: createLog('silent') });
  const networks = new NetworkDirectory([configured('sepolia', true), configured('mine', false)], store.read);
  await feed.follow('network', () => networks.reload());
  const rechecked: string[] = [];
  const made = networkResource.open({
    store,
    networks,
    feed,
    chains: createChains(systemClock),
    connections: { clientOf: () => world.client },
    engine: { recheck: (id) => void rechecked.push(id) },
    newId: () => crypto.randomUUID(),
    rpcGuard: createAddressGuard({ allowedHosts: [], blockPrivate: true }),
  });
  const service = {
    ...made,
    create: (body: unknown, by = OPERATOR) => made.create(body, by),
    update: (id: string, body: unknown, by = OPERATOR) => made.update(id, body, by),
    remove: (id: string, by = OPERATOR) => made.remove(id, by),
  };
  const audit = async () => (await store.read.auditRecords({ before: null, limit: 9 }, { resource: 'network' })).items;
  return { world, store, networks, service, rechecked, audit };
}

const NEW = { name: 'Chain-1', network_type: 'evm', rpc_urls: ['https://rpc.example/v3/0123456789'], chain_id: 5 };
const SHOWN = {
  id: 'evm:chain-1',
  name: 'Chain-1',
  network_type: 'evm',
  rpc_urls: [{ url: 'https://rpc.example/v3/***', weight: 100 }],
  average_blocktime_ms: 12_000,
  chain_id: 5,
  symbol: 'ETH',
  source: 'api',
};

t.test(
  'relays for private transactions come from the configuration only, and are not taken over from there',
  async (t) => {
    const { service, networks, store } = await stage(t);
    const relays = { private_rpc_urls: ['https://relay.example/0123456789'] };
    const refused = /^private_rpc_urls: only a network of the configuration files can have it$/;
    await t.rejects(service.create({ ...NEW, ...relays }), { code: 'INVALID_REQUEST', message: refused });
    await service.create(NEW);
    await t.rejects(service.update('evm:chain-1', relays), { code: 'INVALID_REQUEST', message: refused });
    Object.assign(networks.find('evm', 'mine')?.settings ?? {}, relays);
    await service.create({ name: 'child', network_type: 'evm', from: 'mine', rpc_urls: ['https://rpc.example'] });
    t.notHas((await store.read.storedNetwork('evm', 'child'))?.settings, relays);
  },
);

t.test('what is made is found, listed first, and can be used at once', async (t) => {
  const { service, networks, store, audit } = await stage(t);
  t.strictSame(await service.create(NEW), SHOWN);
  t.strictSame(await service.get('evm:chain-1'), SHOWN);
  t.match(networks.find('evm', 'Chain-1'), { rpcUrls: [{ url: 'https://rpc.example/v3/0123456789' }] });
  const { items, total } = await service.list({ page: 1, perPage: 2 });
  t.strictSame([items.map(({ id }) => id), total], [['evm:chain-1', 'evm:mine'], 3]);
  t.strictSame((await service.list({ page: 2, perPage: 2 })).items.length, 1);
  t.match(await store.read.storedNetwork('evm', 'Chain-1'), { declaration: null });
  t.match(await audit(), [{ action: 'create', resourceId: 'evm:chain-1', before: null, after: SHOWN }]);
});

t.test('a name is taken once in its type, also by what the configuration has', async (t) => {
  const { service } = await stage(t);
  await service.create(NEW);
  for (const name of ['Chain-1', 'sepolia', 'mine']) {
    await t.rejects(service.create({ ...NEW, name }), { code: 'NETWORK_EXISTS', status: 409 }, name);
  }
  const { chain_id: _, ...other } = NEW;
  t.match(await service.create({ ...other, network_type: 'solana' }), { id: 'solana:chain-1' });
});

t.test('fields are taken over from another network, and only from one that there is', async (t) => {
  const { service } = await stage(t);
  const child = { name: 'child', network_type: 'evm', from: 'sepolia', tags: ['own'] };
  t.match(await service.create(child), {
    rpc_urls: [{ url: 'https://sepolia.example' }],
    chain_id: 11_155_111,
    tags: ['parent', 'own'],
  });
  await t.rejects(service.create({ ...child, name: 'c2', from: 'nobody' }), {
    message: 'from: there is no evm network nobody',
  });
  await t.rejects(service.create({ name: 'c3', network_type: 'evm' }), { message: 'rpc_urls: missing' });
  await t.rejects(service.create({ ...NEW, name: 'c4', rpc_urls: ['http://10.0.0.1'] }), {
    message: 'rpc_urls.0.url: Invalid RPC URL: 10.0.0.1 is refused: a private address',
  });
});

t.test('a change of endpoints counts at once for the relayers that go by them', async (t) => {
  const { service, store, networks, rechecked, audit } = await stage(t);
  await store.write(async (writer) => {
    await writer.putRelayer(relayerNamed('on', { network: 'mine' }));
    await writer.putRelayer(relayerNamed('own', { network: 'mine', customRpcUrls: [{ url: 'https://x', weight: 1 }] }));
    await writer.putRelayer(relayerNamed('elsewhere', { network: 'sepolia' }));
  });
  const moved = await service.update('evm:mine', { rpc_urls: [{ url: 'https://two.example', weight: 5 }] });
  t.match(moved, { rpc_urls: [{ url: 'https://two.example', weight: 5 }], source: 'file', chain_id: 11_155_111 });
  t.match(networks.find('evm', 'mine'), { rpcUrls: [{ url: 'https://two.example' }] });
  t.strictSame(rechecked, ['on']);
  const declaration = rpcUrlsDigest([{ url: 'https://mine.example', weight: 100 }]);
  t.match(await store.read.storedNetwork('evm', 'mine'), { settings: null, declaration });
  await service.update('evm:sepolia', { rpc_urls: ['https://two.example'] });
  t.match(await store.read.storedNetwork('evm', 'sepolia'), { settings: null, declaration: null });
  t.match(await audit(), [{ resourceId: 'evm:sepolia' }, { action: 'update', secrets: ['rpc_urls'] }]);
});

t.test('of a configured one only the endpoints are changed, of one of a client all', async (t) => {
  const { service, world } = await stage(t);
  await service.create(NEW);
  t.match(await service.update('evm:chain-1', { tags: ['x'], symbol: null, required_confirmations: 3 }), {
    ...SHOWN,
    tags: ['x'],
    required_confirmations: 3,
  });
  for (const [id, body, message] of [
    ['evm:mine', { tags: [] }, /^tags: the network is declared in the configuration, and only its rpc_urls/],
    ['evm:sepolia', { tags: [] }, /^tags: the network is built in, /],
    ['evm:mine', {}, 'At least one field must be provided for update'],
    ['evm:mine', { rpc_urls: null }, 'At least one field must be provided for update'],
    ['evm:mine', { rpc_urls: [] }, /must contain at least one RPC endpoint/],
    ['evm:mine', { rpc_urls: ['https://x/***'] }, /is hidden in part/],
    ['evm:mine', { rpc_urls: ['http://169.254.169.254'] }, /link-local/],
    ['evm:mine', { name: 'x' }, /unknown field `name`/],
    ['evm:chain-1', { chain_id: [] }, /^chain_id: /],
  ] as const) {
    await t.rejects(service.update(id, body), { code: 'INVALID_REQUEST', message }, JSON.stringify(body));
  }
  await t.rejects(service.update('evm:nobody', {}), { code: 'NETWORK_NOT_FOUND', status: 404 });
  world.client.identity = async (_expected, onServed = () => {}) => {
    onServed('two.example', '5');
    return '5';
  };
  await world.store.write((writer) => writer.pinChainIdentity('evm', 'mine', '1'));
  await t.rejects(service.update('evm:mine', { rpc_urls: ['https://two.example'] }), { message: /serve chain 5/ });
});

t.test('what relayers are on stays, and so does what the configuration has', async (t) => {
  const { service, store, networks, audit } = await stage(t);
  await service.create(NEW);
  await store.write(async (writer) => {
    await writer.putRelayer(relayerNamed('a', { network: 'Chain-1' }));
    await writer.pinChainIdentity('evm', 'Chain-1', '5');
  });
  await t.rejects(service.remove('evm:chain-1'), {
    code: 'NETWORK_IN_USE',
    status: 409,
    message: /because 1 relayer\(s\) are on it: a\. /,
  });
  await store.write((writer) => writer.deleteRelayer('a'));
  await service.remove('evm:chain-1');
  t.equal(networks.find('evm', 'Chain-1'), undefined);
  t.equal(await store.read.chainIdentity('evm', 'Chain-1'), undefined, 'another chain may get its name');
  t.match((await audit())[0], { action: 'delete', before: { id: 'evm:chain-1' }, after: null });
  await t.rejects(service.remove('evm:chain-1'), { code: 'NETWORK_NOT_FOUND' });
  for (const id of ['evm:mine', 'evm:sepolia']) {
    await t.rejects(service.remove(id), { code: 'INVALID_REQUEST', message: /cannot be deleted: the network is / });
  }
});

t.test('under one name each change happens once', async (t) => {
  const { service, store } = await stage(t);
  const effect = await keyedEffect(store);
  const once = (occurrence: number) => operatorOnce({ ...effect, occurrence });
  for (let round = 0; round < 2; round += 1) t.strictSame(await service.create(NEW, once(0)), SHOWN);
  const first = await service.update('evm:chain-1', { tags: ['x'] }, once(1));
  await service.update('evm:chain-1', { tags: ['y'] });
  t.strictSame(await service.update('evm:chain-1', { tags: ['x'] }, once(1)), first);
  t.match(await service.get('evm:chain-1'), { tags: ['y'] });
  await service.remove('evm:chain-1', once(2));
  await service.remove('evm:chain-1', once(2));
});

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
