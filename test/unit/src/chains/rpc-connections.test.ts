import t, { type Test } from 'tap';
import { createChains } from '../../../../src/chains/registry.ts';
import { createConnections } from '../../../../src/chains/rpc-connections.ts';
import { systemClock } from '../../../../src/domain/clock.ts';
import { createAddressGuard } from '../../../../src/egress/address-guard.ts';
import { createHttpClient } from '../../../../src/egress/http-client.ts';
import { fixedNetworks, type Network } from '../../../../src/features/networks/record.ts';
import type { RpcUrl } from '../../../../src/features/relayers/records/relayer.ts';
import { NO_MARKET } from '../../../support/no-market.ts';
import { answersByMethod, startRpcDouble } from '../../../support/rpc-double.ts';

const relayer = (customRpcUrls: RpcUrl[] | null = null, network = 'local') =>
  ({ networkType: 'evm', network, customRpcUrls }) as const;

async function open(t: Test, blockPrivate = false) {
  const node = await startRpcDouble(answersByMethod({ eth_chainId: '0x1', eth_getBalance: '0x7' }));
  const calls: string[] = [];
  const http = createHttpClient(createAddressGuard({ allowedHosts: [], blockPrivate }));
  const connections = createConnections({
    networks: fixedNetworks([{ type: 'evm', name: 'local', rpcUrls: [{ url: node.url, weight: 100 }], settings: {} }]),
    chains: createChains(systemClock),
    http,
    market: NO_MARKET,
    clock: systemClock,
    random: Math.random,
    settings: { tries: 1 },
    onRpcCall: (network, { method, outcome }) => calls.push(`${network.name} ${method} ${outcome}`),
  });
  t.teardown(async () => {
    await connections.close();
    await connections.close();
    await http.close();
    await node.stop();
  });
  return { connections, node, calls };
}

t.test('one client for each network and set of endpoints', async (t) => {
  const { connections, calls } = await open(t);
  const client = connections.clientOf(relayer());
  t.equal(connections.clientOf(relayer()), client);
  t.equal(connections.clientOf(relayer([])), client, 'an empty list replaces nothing');
  t.not(connections.clientOf(relayer([{ url: 'http://127.0.0.1:1', weight: 100 }])), client);
  t.equal(await client.balance('0xab'), 7n);
  t.same(calls, ['local eth_getBalance ok']);
});

t.test('a relayer’s own endpoints replace those of the network', async (t) => {
  const { connections, node } = await open(t);
  const own = await startRpcDouble(answersByMethod({ eth_chainId: '0x2' }));
  t.teardown(() => own.stop());
  t.equal(await connections.clientOf(relayer([{ url: own.url, weight: 100 }])).identity(), '2');
  t.equal(node.calls.length, 0);
});

t.test('the guard judges every call', async (t) => {
  const { connections, node } = await open(t, true);
  await t.rejects(connections.clientOf(relayer()).balance('0xab'), { code: 'PROVIDER_FAILED', message: /is refused/ });
  t.equal(node.calls.length, 0);
});

t.test('a network that changes is connected to anew', async (t) => {
  const node = await startRpcDouble(answersByMethod({ eth_getBalance: '0x7' }));
  const http = createHttpClient(createAddressGuard({ allowedHosts: [], blockPrivate: false }));
  const network: Network = { type: 'evm', name: 'local', rpcUrls: [{ url: node.url, weight: 100 }], settings: {} };
  let known: Network | undefined;
  const connections = createConnections({
    networks: { find: () => known },
    chains: createChains(systemClock),
    http,
    market: NO_MARKET,
    clock: systemClock,
    random: Math.random,
    settings: { tries: 1 },
  });
  t.teardown(async () => {
    await connections.close();
    await http.close();
    await node.stop();
  });
  t.throws(() => connections.clientOf(relayer()), { code: 'PROVIDER_FAILED' });
  known = network;
  const client = connections.clientOf(relayer());
  t.equal(await client.balance('0xab'), 7n);
  known = { ...network, settings: { average_blocktime_ms: 5 } };
  const changed = connections.clientOf(relayer());
  t.not(changed, client);
  known = { ...known, rpcUrls: [{ url: 'http://127.0.0.1:1', weight: 100 }] };
  t.not(connections.clientOf(relayer()), changed);
  await t.rejects(connections.clientOf(relayer()).balance('0xab'));
});

t.test('a network that nobody declared', async (t) => {
  const { connections } = await open(t);
  const message = 'The RPC endpoints of network nowhere failed: no evm network has this name';
  t.throws(() => connections.clientOf(relayer(null, 'nowhere')), { code: 'PROVIDER_FAILED', message });
});

t.test('how the endpoints of a relayer answer is known, whoever asks, and that it changes is told', async (t) => {
  const { connections, node } = await open(t);
  const own = relayer([{ url: 'http://127.0.0.1:1', weight: 100 }]);
  const told: boolean[] = [];
  const stop = connections.onContact((concerns) => told.push(concerns(relayer())));
  t.equal(connections.contactOf(relayer()), undefined);
  await connections.clientOf(relayer()).balance('0xab');
  t.match(connections.contactOf(relayer([])), { isLost: false, servedAt: Number });
  await t.rejects(connections.clientOf(own).balance('0xab'));
  t.match(connections.contactOf(own), { isLost: true, servedAt: null });
  t.strictSame(told, [false], 'of the other relayer’s endpoints');
  node.answer(() => ({ status: 500 }));
  await t.rejects(connections.clientOf(relayer()).balance('0xab'));
  t.equal(connections.contactOf(relayer())?.isLost, true);
  node.answer(answersByMethod({ eth_getBalance: '0x7' }));
  await connections.clientOf(relayer()).balance('0xab');
  t.strictSame(told, [false, true, true], 'lost, and there again');
  stop();
  node.answer(() => ({ status: 500 }));
  await t.rejects(connections.clientOf(relayer()).balance('0xab'));
  t.equal(told.length, 3);
});

t.test('its endpoints can be looked at, and news of them is told with their network', async (t) => {
  const node = await startRpcDouble(() => ({ status: 500 }));
  t.teardown(() => node.stop());
  const http = createHttpClient(createAddressGuard({ allowedHosts: [], blockPrivate: false }));
  t.teardown(() => http.close());
  const news: string[] = [];
  const connections = createConnections({
    networks: fixedNetworks([
      { type: 'evm', name: 'local', rpcUrls: [{ url: `${node.url}/secret-key-1`, weight: 100 }], settings: {} },
    ]),
    chains: createChains(systemClock),
    http,
    market: NO_MARKET,
    clock: systemClock,
    random: () => 0,
    settings: { tries: 3, baseDelayMs: 1, maxDelayMs: 1 },
    onEndpoint: ({ name }, { kind, endpoint }) => void news.push(`${name} ${kind} ${endpoint}`),
  });
  t.teardown(() => connections.close());
  t.strictSame(connections.endpoints(), [], 'nothing is connected to before it is needed');
  await t.rejects(connections.clientOf(relayer()).balance('0xab'), { code: 'PROVIDER_FAILED' });
  t.match(connections.endpoints(), [{ network: 'local', endpoint: node.url, state: 'paused' }]);
  t.strictSame(news, [`local paused ${node.url}`]);
});
