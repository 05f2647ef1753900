/** Each row of the table of differences in docs/api.md is so, by a running service, or says which test shows it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { startAnvil } from '../support/anvil.ts';
import { composeService } from '../support/composed-service.ts';
import { createWorkspace } from '../support/workspace.ts';

const root = join(import.meta.dirname, '..', '..');
const guide = readFileSync(join(root, 'docs', 'api.md'), 'utf8');
const table = guide.slice(guide.indexOf('## Where it differs'));
const rows = [...table.matchAll(/^\| (.+?) \| (.+?) \| (.+?) \|$/gm)].map(([, what = '']) => what);

const anvil = await startAnvil();
t.teardown(() => anvil.stop());
const workspace = await createWorkspace({
  rpcUrl: anvil.url,
  accounts: 2,
  plugins: [{ id: 'one', path: 'one.ts', timeout: 30, config: { a: 1 } }],
  pluginFiles: { 'one.ts': 'export async function handler() { return 1; }' },
  env: { METRICS_ENABLED: 'true', METRICS_PORT: '0' },
});
t.teardown(() => workspace.remove());
// The other relayer has nothing, and is disabled.
await anvil.rpc('anvil_setBalance', [workspace.address, '0x8ac7230489e80000']);
const service = await composeService(workspace.env);
t.teardown(() => service.stop());

async function raw(method: string, path: string, body?: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${service.url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${service.apiKey}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : undefined };
}
const api = (method: string, path: string, body?: unknown) =>
  raw(method, `/api/v1${path}`, body === undefined ? undefined : JSON.stringify(body));

const isFailure = (t: Test, answer: { status: number; json: unknown }, status: number) =>
  t.match(answer, { status, json: { success: false, data: null, error: String, message: String } });

const TO = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const payment = { to: TO, value: 1, data: '0x', gas_limit: 21_000, speed: 'fast' };
const send = (body: object) => api('POST', '/relayers/local-1/transactions', body);

const CHECKS: Record<string, (t: Test) => Promise<unknown>> = {
  failures: async (t) => {
    const { json } = await api('GET', '/relayers/nobody');
    t.match(json, { error: String, message: String, code: 'RELAYER_NOT_FOUND', retryable: false });
  },
  'failures before a handler: malformed JSON, an unknown path, a body that is too large or of another type': async (
    t,
  ) => {
    isFailure(t, await raw('POST', '/api/v1/notifications', '{'), 400);
    isFailure(t, await api('GET', '/nowhere'), 404);
    isFailure(t, await raw('POST', '/api/v1/notifications', `"${'x'.repeat(3_000_000)}"`), 413);
    isFailure(t, await raw('POST', '/api/v1/notifications', '{}', { 'content-type': 'text/plain' }), 415);
  },
  'a method that a path does not have': async (t) => {
    const answer = await api('PUT', '/relayers');
    isFailure(t, answer, 405);
    t.match(answer.headers.get('allow'), /GET.*POST/);
  },
  '401': async (t) => {
    const [none, wrong] = await Promise.all(
      ['', 'Bearer wrong'].map((authorization) => raw('GET', '/api/v1/relayers', undefined, { authorization })),
    );
    t.equal(none?.text, wrong?.text);
    for (const answer of [none, wrong]) t.match(answer?.headers.get('www-authenticate'), /^Bearer /);
  },
  '403 of a disabled relayer': async (t) => {
    const answer = await api('POST', '/relayers/local-2/sign', { message: 'x' });
    isFailure(t, answer, 403);
    t.match(answer.json.disabled_reason, { type: 'BalanceCheckFailed', details: / has 0 wei/, next_check_at: /^20/ });
  },
  'updating a disabled relayer': async (t) =>
    t.match(await api('PATCH', '/relayers/local-2', { paused: false }), { status: 200 }),
  'deleting what is in use': async (t) => {
    await api('POST', '/notifications', { id: 'used', url: 'https://hooks.example/' });
    await api('PATCH', '/relayers/local-2', { notification_id: 'used' });
    isFailure(t, await api('DELETE', '/notifications/used'), 409);
  },
  'an id that is taken': async (t) => {
    const body = { id: 'taken', url: 'https://hooks.example/' };
    t.equal((await api('POST', '/notifications', body)).status, 201);
    isFailure(t, await api('POST', '/notifications', body), 409);
  },
  '`name: null` in an update of a relayer': async (t) => {
    const before = (await api('GET', '/relayers/local-2')).json.data.name;
    t.match(await api('PATCH', '/relayers/local-2', { name: null }), { status: 200, json: { data: { name: before } } });
  },
  'an unknown field of what is sent': async (t) => {
    const answer = await send({ ...payment, gasLimit: 1 });
    isFailure(t, answer, 400);
    t.match(answer.json.error, /gasLimit.*gas_limit/);
  },
  'an address of mixed case': async (t) => isFailure(t, await send({ ...payment, to: TO.replace('C5', 'c5') }), 400),
  'integers beyond 2^64 as JSON numbers': async (t) => {
    const digits = String(2n ** 100n + 1n);
    const { status, text } = await raw('PATCH', '/api/v1/relayers/local-2', `{"policies":{"gas_price_cap":${digits}}}`);
    t.equal(status, 200);
    t.match(text, `"gas_price_cap":${digits}`);
  },
  'a transaction by its id': async (t) => {
    const { id } = (await send(payment)).json.data;
    t.equal((await api('GET', `/relayers/local-1/transactions/${id}`)).status, 200);
    isFailure(t, await api('GET', `/relayers/local-2/transactions/${id}`), 404);
  },
  lists: async (t) => {
    for (const id of ['list-a', 'list-b']) await api('POST', '/notifications', { id, url: 'https://hooks.example/' });
    const ids = (await api('GET', '/notifications')).json.data.map(({ id }: { id: string }) => id);
    t.ok(ids.indexOf('list-b') < ids.indexOf('list-a'));
  },
  '`page=0`, and `per_page=0`': async (t) => {
    t.match((await api('GET', '/relayers?page=0')).json, { data: [{}, {}], pagination: { current_page: 1 } });
    t.match((await api('GET', '/relayers?per_page=0')).json, { data: [], pagination: { total_items: 2 } });
  },
  '`per_page` beyond 500': async (t) =>
    t.match((await api('GET', '/relayers?per_page=1000')).json, { pagination: { per_page: 500 } }),
  limits: async (t) => t.equal((await api('GET', '/relayers')).headers.get('ratelimit-limit'), '300'),
  probes: async (t) => t.equal((await api('GET', '/health')).headers.get('ratelimit-limit'), null),
  '`GET /health`': async (t) => t.equal((await api('GET', '/health')).text, '"OK"'),
  'repeating a request': async (t) => {
    const once = () =>
      raw('POST', '/api/v1/relayers/local-1/transactions', JSON.stringify(payment), { 'idempotency-key': 'once' });
    t.equal((await once()).json.data.id, (await once()).json.data.id);
  },
  'private addresses of `custom_rpc_urls`': async (t) =>
    isFailure(t, await api('PATCH', '/relayers/local-2', { custom_rpc_urls: [{ url: 'http://10.1.2.3/' }] }), 400),
  'a webhook address that no delivery may ever go to': async (t) =>
    isFailure(t, await api('POST', '/notifications', { url: 'http://10.1.2.3/' }), 400),
  'a `signing_key` below 32 bytes': async (t) => {
    const made = await api('POST', '/notifications', { url: 'https://hooks.example/', signing_key: 'short' });
    t.equal(made.status, 201);
    t.match(service.output(), /the signing key has fewer than 32 bytes/);
  },
  '`config: null` in an update of a plugin': async (t) =>
    t.match(await api('PATCH', '/plugins/one', { config: null }), { status: 200, json: { data: { config: null } } }),
  'the timeout of a plugin in answers': async (t) => t.equal((await api('GET', '/plugins/one')).json.data.timeout, 30),
  'calling a plugin': async (t) => {
    for (const prefix of ['/api/v1', '']) {
      t.match(await raw('POST', `${prefix}/plugins/one/call`, '{}'), { status: 200, json: { data: 1 } });
    }
  },
  'a description of the API': async (t) => {
    t.match((await raw('GET', '/api-docs/openapi.json')).json, { openapi: /^3\.1/ });
    t.equal((await raw('GET', '/api-docs')).status, 200);
  },
  'names of metrics': async (t) =>
    t.ok((await api('GET', '/metrics')).json.some((name: string) => name.startsWith('isolayer_'))),
};

/** Rows that another file shows, with what it says of them. */
const ELSEWHERE: Record<string, [file: string, says: RegExp]> = {
  'a relayer that fails later': ['test/integration/relayer-health.test.ts', /runs dry while all runs disables/],
  'deleting a relayer': ['test/unit/src/services/settings/relayer-delete.test.ts', /mined|under way/],
  webhooks: ['test/integration/webhooks-guide.test.ts', /giveUpMs/],
  'API keys': ['test/integration/key-scopes.test.ts', /what nobody has/],
  networks: ['test/integration/settings-api.test.ts', /createNetwork|evm:mine/],
  '`GET /metrics` on the metrics port': [
    'test/unit/src/http/metrics-server.test.ts',
    /a client that asks for JSON gets the names/,
  ],
};

t.test('every row is shown, and nothing else', (t) => {
  t.strictSame(
    [...Object.keys(CHECKS), ...Object.keys(ELSEWHERE)].toSorted(),
    rows.filter((row) => row !== '---').toSorted(),
  );
  for (const [file, says] of Object.values(ELSEWHERE)) t.match(readFileSync(join(root, file), 'utf8'), says, file);
  t.end();
});

for (const [row, check] of Object.entries(CHECKS)) t.test(row, check);
