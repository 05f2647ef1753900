/** The answers of a running service have exactly the keys and shapes of the API's description. */
import { createHmac } from 'node:crypto';
import t from 'tap';
import { fund } from '../../examples/demo/chain.ts';
import { RESOURCE_PATHS } from '../../src/features/api-keys/records/access.ts';
import { RESOURCES } from '../../src/features/resource-table.ts';
import { failureSchema } from '../../src/http/openapi/answers.ts';
import { describedOperations } from '../../src/http/operation-table.ts';
import { pluginCallEventSchema, transactionEventSchema } from '../../src/http/routes/events.ts';
import { startAnvil } from '../support/anvil.ts';
import { composeService } from '../support/composed-service.ts';
import { describedBodies } from '../support/described.ts';
import { readEvents } from '../support/event-reader.ts';
import { eventually } from '../support/eventually.ts';
import type { StartedService } from '../support/service.ts';
import { createWorkspace } from '../support/workspace.ts';

const described = describedOperations(describedBodies());
const HOOK_SECRET = { type: 'plain', value: 'a secret that is long enough to be one' };
const RECEIVER = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8';

t.test('every operation, once', async (t) => {
  const anvil = await startAnvil();
  t.teardown(() => anvil.stop());
  const workspace = await createWorkspace({
    rpcUrl: anvil.url,
    // Nothing listens at the webhook's address.
    env: { WEBHOOK_BLOCK_PRIVATE_IPS: 'false' },
    plugins: [
      { id: 'called', path: 'ok.ts', triggers: [{ name: 'alert', on: 'webhook', secret: HOOK_SECRET }] },
      { id: 'ok', path: 'ok.ts', emit_logs: true, emit_traces: true, emit_usage: true, allow_get_invocation: true },
      { id: 'fails', path: 'fails.ts', emit_logs: true },
      { id: 'waits', path: 'waits.ts', durable: true },
    ],
    pluginFiles: {
      'waits.ts': `export const handler = async ({ api, kv }) => { await kv.set('a', 1); return await api.waitFor('told'); };`,
      'ok.ts': `export const handler = async ({ api }) => { console.log('x'); return (await api.useRelayer('local-1').getRelayer()).id; };`,
      'fails.ts': `export const handler = () => { console.error('y'); throw new Error('no'); };`,
    },
  });
  t.teardown(() => workspace.remove());
  await fund(anvil.url, workspace.address);
  const service = await composeService(workspace.env);
  t.teardown(() => service.stop());
  const left = new Set(Object.keys(described));

  const ask = async (route: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const [method = ''] = route.split(' ');
    const answer = await fetch(`${service.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${service.apiKey}`, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const operation = described[route];
    const text = await answer.text();
    left.delete(route);
    t.equal(answer.status, operation?.answer.status, `${route}: ${text.slice(0, 300)}`);
    const { contentType = 'application/json; charset=utf-8' } = operation?.answer ?? {};
    t.equal(answer.headers.get('content-type'), contentType, route);
    const value: unknown = contentType.startsWith('application/json') ? JSON.parse(text) : text;
    const parsed = operation?.answer.schema.safeParse(value);
    t.ok(parsed?.success, `${route}: ${String(parsed?.error)}`);
    t.strictSame(parsed?.data, value, `${route} has no key that is not described`);
    return value as { data: Record<string, string> };
  };

  const events = await readEvents(t, service.url, { key: service.apiKey });
  t.match(events.response.headers.get('content-type'), /^text\/event-stream;/);
  await events.next();
  const relayer = '/api/v1/relayers/local-1';
  await ask('GET /api/v1/plugins', '/api/v1/plugins');
  await ask('GET /api/v1/plugins/:id', '/api/v1/plugins/ok');
  await ask('PATCH /api/v1/plugins/:id', '/api/v1/plugins/ok', { timeout: 20, config: { mode: 'quick' } });
  await ask('POST /api/v1/plugins/:id/disable', '/api/v1/plugins/ok/disable');
  t.equal((await service.call('ok')).status, 403);
  await ask('POST /api/v1/plugins/:id/enable', '/api/v1/plugins/ok/enable');
  await ask('POST /api/v1/plugins/:id/reload', '/api/v1/plugins/ok/reload');
  t.equal((await service.call('ok')).status, 200);
  await ask('GET /api/v1/plugins/:id/logs', '/api/v1/plugins/ok/logs');
  for (const deed of ['pause', 'resume', 'fire']) {
    await ask(`POST /api/v1/plugins/:id/triggers/:name/${deed}`, `/api/v1/plugins/called/triggers/alert/${deed}`);
  }
  const signature = createHmac('sha256', HOOK_SECRET.value)
    .update(JSON.stringify({ a: 1 }))
    .digest('hex');
  await ask('POST /api/v1/hooks/:id/:name', '/api/v1/hooks/called/alert', { a: 1 }, { 'x-signature': signature });
  const begun = await fetch(`${service.url}/api/v1/plugins/waits/call`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.apiKey}`, 'content-type': 'application/json', prefer: 'respond-async' },
    body: '{"params":{}}',
  });
  t.equal(begun.status, 202);
  const calls = '/api/v1/plugins/waits/calls';
  const waiting = begun.headers.get('location') ?? '';
  t.ok(waiting.startsWith(`${calls}/`));
  await ask('GET /api/v1/plugins/:id/calls', calls);
  await ask('GET /api/v1/plugins/:id/calls/:call', waiting);
  await ask('POST /api/v1/plugins/:id/calls/:call/cancel', `${waiting}/cancel`);
  await ask('POST /api/v1/plugins/:id/calls/:call/retry', `${waiting}/retry`);
  await ask('POST /api/v1/plugins/:id/calls/:call/events/:name', `${waiting}/events/told`, { value: 7 });
  const state = async () => {
    const answer = await fetch(`${service.url}${waiting}`, { headers: { authorization: `Bearer ${service.apiKey}` } });
    return ((await answer.json()) as { data: { state: string } }).data.state;
  };
  t.equal(await eventually(state, (one) => one === 'returned'), 'returned');
  await ask('GET /api/v1/plugins/:id/calls/:call/record', `${waiting}/record`);
  await ask('GET /api/v1/relayers', '/api/v1/relayers');
  await ask('GET /api/v1/relayers/:id', relayer);
  await ask('PATCH /api/v1/relayers/:id', relayer, { name: 'New', policies: { min_balance: 1 } });
  await ask('GET /api/v1/relayers/:id/status', `${relayer}/status`);
  await ask('GET /api/v1/relayers/:id/balance', `${relayer}/balance`);
  // A transaction in a block cannot be replaced.
  await anvil.rpc('evm_setAutomine', [false]);
  const send = { to: RECEIVER, value: 1, speed: 'fast' };
  const { data } = await ask('POST /api/v1/relayers/:id/transactions', `${relayer}/transactions`, send);
  await ask('GET /api/v1/relayers/:id/transactions/:transactionId', `${relayer}/transactions/${data['id']}`);
  await ask('GET /api/v1/relayers/:id/transactions', `${relayer}/transactions`);

  const batch = {
    requests: [
      { relayer_id: 'local-1', transaction: send },
      { relayer_id: 'x', transaction: {} },
    ],
  };
  await ask('POST /api/v1/transactions/batch', '/api/v1/transactions/batch', batch);
  for (const [event, schema] of [
    ['plugin_call', pluginCallEventSchema],
    ['transaction', transactionEventSchema.strict()],
  ] as const) {
    const [told] = await events.take(event, 1);
    t.strictSame(schema.parse(told?.data), told?.data);
  }
  left.delete('GET /api/v1/events');
  const one = `${relayer}/transactions/${data['id']}`;
  await submitted(service, one);
  const replacing = 'PUT /api/v1/relayers/:id/transactions/:transactionId';
  await ask(replacing, one, { ...send, value: 2 });
  await ask('DELETE /api/v1/relayers/:id/transactions/:transactionId', one);
  await ask('GET /api/v1/relayers/:id/transactions/:transactionId/timeline', `${one}/timeline`);
  const byNonce = 'GET /api/v1/relayers/:id/transactions/by-nonce/:nonce';
  const ofNonce = await ask(byNonce, `${relayer}/transactions/by-nonce/0`);
  const byHash = 'GET /api/v1/relayers/:id/transactions/by-hash/:hash';
  await ask(byHash, `${relayer}/transactions/by-hash/${ofNonce.data['hash']}`);
  await service.request('POST', `${relayer}/transactions`, send);
  await ask('DELETE /api/v1/relayers/:id/transactions/pending', `${relayer}/transactions/pending`);

  await ask('POST /api/v1/relayers/:id/rpc', `${relayer}/rpc`, {
    jsonrpc: '2.0',
    method: 'eth_chainId',
    params: [],
    id: 1,
  });

  const hash = '11'.repeat(32);
  await ask('POST /api/v1/relayers/:id/sign', `${relayer}/sign`, { message: 'Hello' });
  await ask('POST /api/v1/relayers/:id/sign-typed-data', `${relayer}/sign-typed-data`, {
    domain_separator: hash,
    hash_struct_message: hash,
  });
  const unsent = { to: RECEIVER, value: 1, nonce: 0, gas_limit: 21_000, gas_price: 1 };
  await ask('POST /api/v1/relayers/:id/sign-transaction', `${relayer}/sign-transaction`, unsent);

  for (const deed of ['quote', 'build']) {
    const path = `${relayer}/transactions/sponsored/${deed}`;
    // EVM relayers do not sponsor fees. The families that do have tests of their own.
    t.equal((await service.request('POST', path, { transaction: 'AA==', fee_token: 'x' })).status, 400, deed);
    left.delete(`POST /api/v1/relayers/:id/transactions/sponsored/${deed}`);
  }

  // By the examples of the description, as far as they depend on no other setting.
  for (const { name, create, update } of RESOURCES) {
    if (typeof create.body === 'function' || typeof update.body === 'function') continue;
    const path = `/api/v1/${RESOURCE_PATHS[name]}`;
    const { id } = (await ask(`POST ${path}`, path, create.body.example)).data;
    await ask(`GET ${path}`, path);
    await ask(`GET ${path}/:id`, `${path}/${id}`);
    await ask(`PATCH ${path}/:id`, `${path}/${id}`, update.body.example);
    await ask(`DELETE ${path}/:id`, `${path}/${id}`);
  }
  await service.request('POST', '/api/v1/notifications', { id: 'hook', url: 'http://127.0.0.1:1/hook' });
  await service.request('PATCH', relayer, { notification_id: 'hook' });
  await service.request('POST', `${relayer}/transactions`, send);
  const list = '/api/v1/notifications/hook/deliveries';
  const told = async () => (await service.request('GET', list)).body.data[0]?.id;
  while ((await told()) === undefined) await new Promise((resolve) => setTimeout(resolve, 20));
  await ask('GET /api/v1/notifications/:id/deliveries', list);
  const delivery = `${list}/${await told()}`;
  await ask('GET /api/v1/notifications/:id/deliveries/:deliveryId', delivery);
  await ask('POST /api/v1/notifications/:id/deliveries/:deliveryId/redeliver', `${delivery}/redeliver`);
  await service.request('PATCH', relayer, { notification_id: null });

  const network = { name: 'mine', network_type: 'evm', rpc_urls: ['https://rpc.example/v3/a-secret-key'], chain_id: 5 };
  await ask('POST /api/v1/networks', '/api/v1/networks', network);
  await ask('GET /api/v1/networks', '/api/v1/networks?per_page=500');
  await ask('GET /api/v1/networks/:id', '/api/v1/networks/evm:mine');
  await ask('PATCH /api/v1/networks/:id', '/api/v1/networks/evm:mine', { tags: ['x'] });
  await ask('DELETE /api/v1/networks/:id', '/api/v1/networks/evm:mine');
  await ask('POST /api/v1/signers', '/api/v1/signers', { id: 'key', type: 'plain', config: { key: '01'.repeat(32) } });
  await ask('GET /api/v1/signers', '/api/v1/signers');
  await ask('GET /api/v1/signers/:id', '/api/v1/signers/key');
  t.equal((await service.request('PATCH', '/api/v1/signers/key', {})).status, 400);
  left.delete('PATCH /api/v1/signers/:id');
  const made = { id: 'made', name: 'Made', network: 'local', network_type: 'evm', paused: false, signer_id: 'key' };
  await ask('POST /api/v1/relayers', '/api/v1/relayers', made);
  await ask('DELETE /api/v1/relayers/:id', '/api/v1/relayers/made');
  await ask('DELETE /api/v1/signers/:id', '/api/v1/signers/key');
  const key = { name: 'k', permissions: ['metrics:read'], rate_limit: { requests_per_second: 5, burst: 5 } };
  const { data: madeKey } = await ask('POST /api/v1/api-keys', '/api/v1/api-keys', key);
  await ask('GET /api/v1/api-keys/current', '/api/v1/api-keys/current');
  await ask('GET /api/v1/api-keys/:id/permissions', `/api/v1/api-keys/${madeKey['id']}/permissions`);
  await ask('GET /api/v1/audit', '/api/v1/audit');

  for (const prefix of ['/api/v1', '']) {
    for (const method of ['GET', 'POST']) {
      const body = method === 'POST' ? {} : undefined;
      await ask(`${method} ${prefix}/plugins/:id/call`, `${prefix}/plugins/ok/call`, body);
      await ask(`${method} ${prefix}/plugins/:id/call/*`, `${prefix}/plugins/ok/call/a/b`, body);
    }
  }
  for (const [route, path] of [
    ['GET /api/v1/health', '/api/v1/health'],
    ['GET /api/v1/ready', '/api/v1/ready'],
    ['GET /api/v1/metrics', '/api/v1/metrics'],
    ['GET /api/v1/metrics/:name', '/api/v1/metrics/isolayer_http_requests_total'],
    ['GET /api/v1/debug/metrics/scrape', '/api/v1/debug/metrics/scrape'],
    ['GET /api-docs/openapi.json', '/api-docs/openapi.json'],
  ] as const) {
    await ask(route, path);
  }
  const failed = await service.call('fails');
  t.equal(failed.status, 500);
  const shape = described['POST /api/v1/plugins/:id/call']?.otherFailures?.[500]?.schema;
  t.strictSame(shape?.parse(failed.body), failed.body);

  const refused = await service.request('POST', `${relayer}/sign-transaction`, {});
  t.equal(refused.status, 400);
  t.strictSame(failureSchema.parse(refused.body), refused.body);
  t.strictSame([...left], []);
});

async function submitted(service: StartedService, path: string): Promise<void> {
  for (let look = 0; look < 300; look += 1) {
    const { body } = await service.request('GET', path);
    if (body.data.status === 'submitted') return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${path} was not submitted`);
}
