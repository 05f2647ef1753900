/**
 * Calls every method of the reference's public client once, and checks its outcome. `public-client.test.ts` follows a
 * payment.
 */
import { randomBytes } from 'node:crypto';
import {
  Configuration,
  HealthApi,
  MetricsApi,
  NetworksApi,
  NotificationsApi,
  PluginsApi,
  RelayersApi,
  SignersApi,
} from '@openzeppelin/relayer-sdk';
import t from 'tap';
import { lifecycleStage, TRANSFER } from '../support/lifecycle-stage.ts';

/** Calls a method, and returns its status and the data of the envelope, if any. */
type Ask = (method: string, ...args: unknown[]) => Promise<{ status: number; data: unknown }>;

interface Answer {
  status: number;
  data: unknown;
}

/** Calls methods of a client by name, and removes them from the list of those left. */
function asking(client: object, left: Set<string>): Ask {
  return async (method, ...args) => {
    left.delete(`${client.constructor.name}.${method}`);
    const call = Reflect.get(client, method) as (...given: unknown[]) => Promise<Answer>;
    const answered = Reflect.apply(call, client, args).catch((error: { response?: Answer }) => {
      if (error.response === undefined) throw error;
      return error.response;
    });
    const { status, data } = await answered;
    return { status, data };
  };
}

function methodsOf(client: object): string[] {
  const own = Object.getOwnPropertyNames(Object.getPrototypeOf(client)).filter((name) => name !== 'constructor');
  return own.map((name) => `${client.constructor.name}.${name}`);
}

t.test('all methods of the public client', async (t) => {
  const stage = await lifecycleStage(t, {
    plugins: [{ id: 'echo', path: 'echo.ts', allow_get_invocation: true }],
    pluginFiles: { 'echo.ts': 'export const handler = ({ params, route }) => ({ params, route });' },
    env: { METRICS_ENABLED: 'true', METRICS_PORT: '0' },
  });
  const { url, apiKey } = stage.service;
  const metricsUrl = /"metricsAddress":"(http:[^"]+)"/.exec(stage.service.output())?.[1] ?? '';
  const configuration = new Configuration({ basePath: url, accessToken: apiKey });
  const ofMetrics = new Configuration({ basePath: metricsUrl, accessToken: apiKey });
  const clients = [HealthApi, NetworksApi, NotificationsApi, PluginsApi, RelayersApi, SignersApi].map(
    (Client) => new Client(configuration),
  );
  const all = [...clients, new MetricsApi(ofMetrics)];
  const left = new Set(all.flatMap(methodsOf));
  t.equal(left.size, 43);
  const [health, networks, notifications, plugins, relayers, signers, metrics] = all.map((client) =>
    asking(client, left),
  ) as [Ask, Ask, Ask, Ask, Ask, Ask, Ask];

  const meets = async (ask: Ask, method: string, args: unknown[], status: number, data: object | string | RegExp) => {
    const answer = await ask(method, ...args);
    t.equal(answer.status, status, `${method}: ${JSON.stringify(answer.data)?.slice(0, 200)}`);
    t.match(answer.data, data, method);
    return answer.data as { data: { id: string } };
  };
  const shows = (data: unknown) => ({ success: true, data, error: null });
  const deleted = { success: true, data: / deleted successfully$/ };

  await meets(health, 'health', [], 200, 'OK');
  await meets(health, 'readiness', [], 200, { ready: true });
  const names = (await metrics('listMetrics')).data as string[];
  t.ok(names.includes('isolayer_http_requests_total'), 'names, and no text');
  await meets(metrics, 'metricDetail', ['isolayer_http_requests_total'], 200, /^# HELP isolayer_http_requests_total/);
  await meets(metrics, 'scrapeMetrics', [], 200, /# TYPE /);

  await meets(networks, 'listNetworks', [1, 5], 200, shows([{ id: 'evm:local' }]));
  await meets(networks, 'getNetwork', ['evm:sepolia'], 200, shows({ chain_id: 11_155_111 }));
  const endpoints = { rpc_urls: ['https://rpc.example'] };
  await meets(networks, 'updateNetwork', ['evm:sepolia', endpoints], 200, shows({ id: 'evm:sepolia' }));

  const hook = { id: 'hook', url: 'https://hooks.example/' };
  await meets(notifications, 'createNotification', [hook], 201, shows({ id: 'hook', has_signing_key: false }));
  await meets(notifications, 'listNotifications', [1, 5], 200, shows([{ id: 'hook' }]));
  await meets(notifications, 'getNotification', ['hook'], 200, shows({ type: 'webhook' }));
  const keyed = { signing_key: 'a key of thirty-two bytes or more' };
  await meets(notifications, 'updateNotification', ['hook', keyed], 200, shows({ has_signing_key: true }));
  await meets(notifications, 'deleteNotification', ['hook'], 200, deleted);

  await meets(plugins, 'listPlugins', [1, 5], 200, shows([{ id: 'echo' }]));
  await meets(plugins, 'getPlugin', ['echo'], 200, shows({ timeout: 300 }));
  await meets(plugins, 'updatePlugin', ['echo', { timeout: 20 }], 200, shows({ timeout: 20 }));
  await meets(plugins, 'callPlugin', ['echo', { params: { a: 1 } }], 200, shows({ params: { a: 1 }, route: '' }));
  await meets(plugins, 'callPluginGet', ['echo', '/verify'], 200, shows({ route: '/verify' }));

  const key = randomBytes(32).toString('hex');
  const signer = { id: 'new-key', type: 'plain', config: { key } };
  await meets(signers, 'createSigner', [signer], 201, shows({ id: 'new-key', type: 'local', config: {} }));
  await meets(signers, 'listSigners', [1, 5], 200, shows([{ id: 'new-key' }, { id: 'local-key' }]));
  await meets(signers, 'getSigner', ['new-key'], 200, shows({ id: 'new-key' }));
  await meets(signers, 'updateSigner', ['new-key', {}], 400, { error: /^Signer updates are not allowed/ });

  const form = { id: 'new', name: 'New', network: 'local', network_type: 'evm', paused: false, signer_id: 'new-key' };
  await meets(relayers, 'createRelayer', [form], 201, shows({ id: 'new' }));
  await meets(relayers, 'deleteRelayer', ['new'], 200, deleted);
  await meets(signers, 'deleteSigner', ['new-key'], 200, deleted);
  await meets(relayers, 'listRelayers', [1, 5], 200, shows([{ id: 'local-1' }]));
  await meets(relayers, 'getRelayer', ['local-1'], 200, shows({ address: stage.address }));
  await meets(relayers, 'updateRelayer', ['local-1', { name: null }], 200, shows({ name: 'Local relayer' }));
  await meets(relayers, 'getRelayerStatus', ['local-1'], 200, shows({ network_type: 'evm' }));
  await meets(relayers, 'getRelayerBalance', ['local-1'], 200, shows({ unit: 'wei' }));
  await meets(relayers, 'sign', ['local-1', { message: 'hello' }], 200, shows({ sig: String }));
  const hashes = { domain_separator: '11'.repeat(32), hash_struct_message: '22'.repeat(32) };
  await meets(relayers, 'signTypedData', ['local-1', hashes], 200, shows({ sig: String }));
  const unsent = { to: TRANSFER.to, value: 1, nonce: 0, gas_limit: 21_000, gas_price: 1 };
  await meets(relayers, 'signTransaction', ['local-1', unsent], 200, shows({ transaction: String }));
  const call = { jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] };
  await meets(relayers, 'rpc', ['local-1', call], 200, { result: '0x7a69' });
  const sponsored = { transaction: 'AA==', fee_token: 'x' };
  for (const method of ['quoteSponsoredTransaction', 'buildSponsoredTransaction']) {
    await meets(relayers, method, ['local-1', sponsored], 400, { success: false, error: /EVM relayers/ });
  }

  const sent = await meets(relayers, 'sendTransaction', ['local-1', TRANSFER], 200, shows({ status: 'pending' }));
  const { id } = sent.data;
  await stage.untilPooled(id);
  await meets(relayers, 'listTransactions', ['local-1', 1, 5], 200, shows([{ id }]));
  await meets(relayers, 'getTransactionById', ['local-1', id], 200, shows({ id }));
  await meets(relayers, 'getTransactionByNonce', ['local-1', 0], 200, shows({ id }));
  const dearer = { ...TRANSFER, value: 8, speed: 'fastest' };
  await meets(relayers, 'replaceTransaction', ['local-1', id, dearer], 200, shows({ id }));
  await meets(relayers, 'cancelTransaction', ['local-1', id], 200, shows({ id }));
  await meets(relayers, 'deletePendingTransactions', ['local-1'], 200, shows({ total_processed: Number }));
  t.strictSame([...left], [], 'none is left');
});
