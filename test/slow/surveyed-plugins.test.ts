/** Plugins in the usual shapes (reference/plugins.md 8.1), dropped into a server that is connected to a real chain. */
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { startAnvil } from '../support/anvil.ts';
import { composeService } from '../support/composed-service.ts';
import { createWorkspace } from '../support/workspace.ts';

const TO = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const SDK = '@openzeppelin/relayer-sdk';
const SENDS = `{ to: params.destinationAddress, value: params.amount || 1, data: '0x', gas_limit: 21000, speed: Speed.FAST }`;

const FILES = {
  'example.ts': `import { Speed, PluginContext, pluginError } from '${SDK}';
    export async function handler({ api, params }: PluginContext) {
      if (!params.destinationAddress) throw pluginError('destinationAddress is required', { code: 'MISSING_PARAM', status: 400, details: { field: 'destinationAddress' } });
      const sent = await api.useRelayer('local-1').sendTransaction(${SENDS});
      const { hash, status } = await sent.wait({ interval: 100, timeout: 60000 });
      return { transactionId: sent.id, hash, status };
    }`,
  'example-rpc.ts': `import type { PluginContext, JsonRpcResponseNetworkRpcResult } from '${SDK}';
    export async function handler({ api }: PluginContext): Promise<JsonRpcResponseNetworkRpcResult> {
      return await api.useRelayer('local-1').rpc({ method: 'eth_chainId', id: 1, jsonrpc: '2.0', params: [] });
    }`,
  'kv-storage.ts': `import type { PluginContext } from '../lib/plugin';
    export async function handler({ kv, params }: PluginContext) {
      switch (params?.action ?? 'demo') {
        case 'set': return { stored: await kv.set(params.key, params.value, params.ttl ? { ttlSec: params.ttl } : {}) };
        case 'get': return { value: await kv.get(params.key) };
        case 'exists': return { exists: await kv.exists(params.key) };
        case 'list': return { keys: await kv.listKeys(params.pattern ?? '*', 500) };
        case 'del': return { deleted: await kv.del(params.key) };
        case 'lock': return { result: await kv.withLock(params.key, async () => 'done', { ttlSec: 5, onBusy: 'skip' }) };
        case 'clear': return { cleared: await kv.clear() };
        default: throw new Error('unknown action');
      }
    }`,
  'basic-example.ts': `import { Speed, PluginAPI } from '${SDK}';
    type Params = { destinationAddress: string; amount?: number };
    export async function handler(api: PluginAPI, params: Params) {
      try {
        if (!params.destinationAddress) throw new Error('destinationAddress is required');
        const sent = await api.useRelayer('local-1').sendTransaction(${SENDS});
        await sent.wait({ interval: 100 });
        return { success: true, transactionId: sent.id };
      } catch (error) {
        console.error('failed:', error);
        return { success: false, message: (error as Error).message };
      }
    }`,
  'responder.ts': `import { Speed } from '${SDK}/dist/models/speed';
    export async function handler(api, params) {
      console.log('event', params.events[0], params);
      const value = params.events.find(({ signature }) => signature === 'Low(uint256)').args[0];
      const sent = await api.useRelayer('local-1').sendTransaction({ to: params.monitor.target, value, speed: Speed.AVERAGE, gas_limit: 21000 });
      return { answered: params.monitor.name, id: sent.id };
    }`,
  'gas-policy.ts': `import type { PluginContext } from '${SDK}';
    const within = (ms: number, work: Promise<any>) => Promise.race([work, new Promise((_, reject) => setTimeout(() => reject(new Error('deadline')), ms))]);
    export async function handler({ api, params, config, method }: PluginContext) {
      if (method !== 'POST') return { error: 'POST only' };
      const relayer = api.useRelayer('local-1');
      const rpc = async (method: string, params: unknown[] = []) => (await within(5000, relayer.rpc({ method, params, id: 1, jsonrpc: '2.0' }))).result;
      const [price, block, info] = await Promise.all([rpc('eth_gasPrice'), rpc('eth_getBlockByNumber', ['latest', false]), within(5000, relayer.getRelayer())]);
      if (BigInt(price) > BigInt(config.most)) return { decision: 'wait', price };
      const sent = await relayer.sendTransaction({ to: params.to, value: 1, speed: 'fast', gas_limit: 21000 });
      return { decision: 'sent', id: sent.id, block: block.number, address: info.address };
    }`,
  'zenex.ts': `import { createHash, createHmac } from 'node:crypto';
    import { handler as channels } from '@openzeppelin/relayer-plugin-channels';
    import { PluginContext, pluginError } from '${SDK}';
    import { StrKey } from '@stellar/stellar-sdk';
    const cache = new Map<string, string>();
    const env = (name: string) => process.env[name] || (() => { throw pluginError('Missing ' + name, { code: 'CONFIG_MISSING', status: 500 }); })();
    export async function handler(context: PluginContext) {
      const { params, route, config, kv } = context;
      switch (route) {
        case '': case '/': return { ok: true, network: config.network, key: StrKey.isValidEd25519PublicKey('G') };
        case '/sign': {
          const id = createHash('sha256').update(JSON.stringify(params)).digest('hex');
          cache.set(id, createHmac('sha256', env('DS_HMAC_SECRET')).update(id).digest('hex'));
          await kv.set('signed:' + id, cache.get(id));
          return { user: env('DS_USER_ID'), id, signature: cache.get(id) };
        }
        case '/submit': return await channels({ ...context, params: { xdr: params.xdr } });
        default: throw pluginError('no route ' + route, { code: 'NOT_FOUND', status: 404 });
      }
    }`,
  'launchtube.ts': `export { handler } from '@openzeppelin/relayer-plugin-launchtube';`,
};

/** Wide limits, because the machine may have other work. */
const limits = { slice_ms: 20_000, cpu_ms: 60_000 };
const SETTINGS = {
  STELLAR_NETWORK: 'testnet',
  FUND_RELAYER_ID: 'local-1',
  SOROBAN_RPC_URL: 'https://rpc.example',
  LAUNCHTUBE_ADMIN_SECRET: 'admin',
  DS_USER_ID: 'u1',
  DS_HMAC_SECRET: 'secret',
};
const permissions = { relayers: { 'local-1': ['read', 'send', 'sign', 'rpc'] }, env: Object.keys(SETTINGS), kv: true };

const anvil = await startAnvil({ blockTime: 0.1 });
t.teardown(() => anvil.stop());
const workspace = await createWorkspace({
  rpcUrl: anvil.url,
  pluginFiles: FILES,
  plugins: [
    { id: 'basic-example', path: 'basic-example.ts', emit_logs: true },
    { id: 'responder', path: 'responder.ts', emit_logs: true },
    { id: 'gas-policy', path: 'gas-policy.ts', allow_get_invocation: true, config: { most: '1000000000000' } },
    { id: 'zenex', path: 'zenex.ts', permissions, limits, config: { network: 'testnet' } },
    { id: 'launchtube', path: 'launchtube.ts', permissions, limits },
  ],
  env: SETTINGS,
});
t.teardown(() => workspace.remove());
await symlink(join(import.meta.dirname, '..', '..', 'node_modules'), join(workspace.dir, 'node_modules'));
await anvil.rpc('anvil_setBalance', [workspace.address, '0xde0b6b3a7640000']);
const service = await composeService(workspace.env);
t.teardown(() => service.stop());

const call = (plugin: string, params: unknown, route = '') =>
  service.request('POST', `/api/v1/plugins/${plugin}/call${route}`, { params });
const paid = async () => BigInt(String(await anvil.rpc('eth_getBalance', [TO, 'latest'])));

t.test('the reference’s examples send, read and keep', async (t) => {
  const before = await paid();
  const sent = await call('example', { destinationAddress: TO, amount: 5 });
  t.match(sent, { status: 200, body: { data: { status: /mined|confirmed/, hash: /^0x/ } } });
  const refused = { code: 'MISSING_PARAM', details: { field: 'destinationAddress' } };
  t.match(await call('example', {}), { status: 400, body: { data: refused } });
  t.match((await call('example-rpc', {})).body.data, { jsonrpc: '2.0', id: 1, result: '0x7a69' });
  t.match((await call('basic-example', { destinationAddress: TO })).body.data, { success: true });
  t.equal((await paid()) - before, 6n);
  const { data, metadata } = (await call('basic-example', {})).body;
  t.match(data, { success: false, message: 'destinationAddress is required' });
  t.match(metadata.logs, [
    { level: 'error', message: /^failed: Error: destinationAddress[^]*plugins\/basic-example\.ts/ },
  ]);

  const keep = async (action: string, more: object = {}) => (await call('kv-storage', { action, ...more })).body.data;
  t.strictSame(await keep('set', { key: 'a:1', value: { n: 1 }, ttl: 60 }), { stored: true });
  t.strictSame(await keep('get', { key: 'a:1' }), { value: { n: 1 } });
  t.strictSame(await keep('exists', { key: 'a:2' }), { exists: false });
  t.strictSame(await keep('list', { pattern: 'a:*' }), { keys: ['a:1'] });
  t.strictSame(await keep('lock', { key: 'l' }), { result: 'done' });
  t.strictSame(await keep('del', { key: 'a:1' }), { deleted: true });
  t.strictSame(await keep('clear'), { cleared: 0 });
  t.match(await call('kv-storage', { action: 'x' }), { status: 500, body: { error: 'unknown action' } });
});

t.test('a responder answers a monitor’s webhook, and a gas policy decides by the chain', async (t) => {
  const event = { monitor: { name: 'low', target: TO }, events: [{ signature: 'Low(uint256)', args: ['9'] }] };
  const answer = await service.request('POST', '/api/v1/plugins/responder/call', event);
  t.match(answer, { status: 200, body: { data: { answered: 'low', id: String } } });
  t.match(answer.body.metadata.logs[0].message, /^event \{"signature":"Low\(uint256\)"/);
  const decided = (await call('gas-policy', { to: TO })).body.data;
  t.match(decided, { decision: 'sent', block: /^0x/, address: workspace.address });
  const get = await service.request('GET', '/api/v1/plugins/gas-policy/call');
  t.match(get, { status: 200, body: { data: { error: 'POST only' } } });
});

t.test('a plugin over another one’s handler serves each of its routes', async (t) => {
  t.match((await call('zenex', {})).body.data, { ok: true, network: 'testnet', key: false });
  const signed = await call('zenex', { a: 1 }, '/sign');
  t.match(signed.body.data, { user: 'u1', id: /^[0-9a-f]{64}$/, signature: /^[0-9a-f]{64}$/ });
  t.match(await call('zenex', { xdr: 'AAAA' }, '/submit'), { status: 400, body: { data: { code: String } } });
  t.match(await call('zenex', {}, '/other'), { status: 404, body: { data: { code: 'NOT_FOUND' } } });
});

t.test('launchtube is managed, and refuses what is wrong', async (t) => {
  const manage = (action: string, more: object = {}) =>
    call('launchtube', { management: { adminSecret: 'admin', action, ...more } });
  t.match((await manage('setSequenceAccounts', { relayerIds: ['local-1'] })).body.data, { ok: true });
  t.match((await manage('listSequenceAccounts')).body.data, { relayerIds: ['local-1'] });
  t.match(await manage('nothing'), { status: 400 });
  t.match(await call('launchtube', { management: { adminSecret: 'no', action: 'x' } }), { status: 401 });
  t.match(await call('launchtube', { sim: false }), { status: 400 });
});
