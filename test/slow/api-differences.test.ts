/**
 * Each row in the table of differences in docs/api.md is checked on a running service, or names the test that does it.
 */
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

const anvil = await startAnvil({ blockTime: 0.1 });
t.teardown(() => anvil.stop());
const workspace = await createWorkspace({
  rpcUrl: anvil.url,
  accounts: 2,
  plugins: [
    { id: 'one', path: 'one.ts', timeout: 30, config: { a: 1 } },
    { id: 'echo', path: 'echo.ts' },
  ],
  pluginFiles: {
    'one.ts': 'export async function handler() { return 1; }',
    'echo.ts': 'export async function handler({ params, headers }) { return { params, names: Object.keys(headers) }; }',
  },
  env: { METRICS_ENABLED: 'true', METRICS_PORT: '0' },
});
t.teardown(() => workspace.remove());
// Only this relayer gets money, so the other one is disabled.
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
const echo = (query: string, body: string, headers = {}) => raw('POST', `/plugins/echo/call${query}`, body, headers);
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
  'the largest body': async (t) => {
    const ask = (body: string) => raw('POST', '/api/v1/notifications', body);
    isFailure(t, await ask(`"${'x'.repeat(524_287)}"`), 413);
    t.match((await ask(`[${'0,'.repeat(20_000)}0]`)).json, { error: /more than 20000 values/ });
    t.equal((await echo('', `"${'x'.repeat(600_000)}"`)).status, 200);
    t.equal((await echo('', `"${'x'.repeat(2_097_151)}"`)).status, 413);
    t.match((await echo('', `[${'0,'.repeat(100_000)}0]`)).json, { error: /more than 100000 values/ });
  },
  compression: async (t) => {
    const answer = await raw('GET', '/api/v1/relayers', undefined, { 'accept-encoding': 'gzip, br, zstd' });
    t.strictSame([answer.status, answer.headers.get('content-encoding')], [200, null]);
    isFailure(t, await raw('POST', '/api/v1/notifications', '{}', { 'content-encoding': 'gzip' }), 415);
  },
  'a method that a path does not have': async (t) => {
    const answer = await api('PUT', '/relayers');
    isFailure(t, answer, 405);
    t.match(answer.headers.get('allow'), /GET.*POST/);
  },
  '`GET …/transactions/pending`': async (t) => {
    const answer = await api('GET', '/relayers/local-1/transactions/pending');
    isFailure(t, answer, 405);
    t.equal(answer.headers.get('allow'), 'DELETE');
  },
  '`…/by-nonce/{nonce}` of what is no number': async (t) =>
    isFailure(t, await api('GET', '/relayers/local-1/transactions/by-nonce/abc'), 400),
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
  '`gas_price` and other prices as text': async (t) => {
    const { status, json } = await send({ ...payment, speed: null, gas_price: '5000000000' });
    t.match({ status, json }, { status: 200, json: { data: { gas_price: '5000000000' } } });
  },
  '`include_revert_data`': async (t) => {
    const { json } = await api('PATCH', '/relayers/local-2', { policies: { gas_limit_estimation: true } });
    t.match(json, { data: { policies: { include_revert_data: true } } });
  },
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
  '`sign-transaction` of EVM': async (t) => {
    const unsent = { to: TO, value: 1, nonce: 0, gas_limit: 21_000, gas_price: 1 };
    const answer = await api('POST', '/relayers/local-1/sign-transaction', unsent);
    t.match(answer, { status: 200, json: { data: { transaction: /^0x/ } } });
  },
  'bad input of `sign-typed-data`': async (t) => {
    const digests = { domain_separator: '0xab', hash_struct_message: 'zz' };
    isFailure(t, await api('POST', '/relayers/local-1/sign-typed-data', digests), 400);
  },
  'batches of JSON-RPC': async (t) => {
    const calls = [1, 2].map((id) => ({ jsonrpc: '2.0', id, method: 'eth_chainId', params: [] }));
    t.match((await api('POST', '/relayers/local-1/rpc', calls)).json, [{ result: '0x7a69' }, { result: '0x7a69' }]);
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
  '`GET /ready` without a key': async (t) => {
    const { components } = (await raw('GET', '/api/v1/ready', undefined, { authorization: '' })).json;
    for (const shown of Object.values(components)) t.strictSame(Object.keys(shown as object), ['status']);
    t.match((await api('GET', '/ready')).json, { components: { disk: { free_bytes: Number } } });
  },
  '`redis` and `queue` in `GET /ready`': async (t) => {
    const { components } = (await api('GET', '/ready')).json;
    const pool = { connected: true, available: 0, max_size: 0 };
    t.match(components, {
      redis: { status: 'healthy', primary_pool: pool, reader_pool: pool },
      queue: { status: 'healthy' },
    });
    t.match(components, { system: { status: 'healthy' }, plugins: { status: String, enabled: true } });
  },
  'repeating a request': async (t) => {
    const once = () =>
      raw('POST', '/api/v1/relayers/local-1/transactions', JSON.stringify(payment), { 'idempotency-key': 'once' });
    t.equal((await once()).json.data.id, (await once()).json.data.id);
  },
  'private addresses of `custom_rpc_urls`': async (t) =>
    isFailure(t, await api('PATCH', '/relayers/local-2', { custom_rpc_urls: [{ url: 'http://10.1.2.3/' }] }), 400),
  'an unknown key in an entry of `custom_rpc_urls`': async (t) => {
    const custom_rpc_urls = [{ url: 'https://rpc.example/', wieght: 1 }];
    const answer = await api('PATCH', '/relayers/local-2', { custom_rpc_urls });
    isFailure(t, answer, 400);
    t.match(answer.json.error, /wieght.*weight/);
  },
  'a webhook address that no delivery may ever go to': async (t) =>
    isFailure(t, await api('POST', '/notifications', { url: 'http://10.1.2.3/' }), 400),
  'a `signing_key` below 32 bytes': async (t) => {
    const made = await api('POST', '/notifications', { url: 'https://hooks.example/', signing_key: 'short' });
    t.equal(made.status, 201);
    t.match(service.output(), /the signing key has fewer than 32 bytes/);
  },
  'addresses of webhooks in answers': async (t) => {
    const url = 'https://hooks.example/services/T0a1B2c3D4e5F6g7H8?key=secret';
    const { text } = await api('POST', '/notifications', { id: 'keyed', url });
    t.match(text, 'https://hooks.example/');
    t.notMatch(text + (await api('GET', '/notifications/keyed')).text, /secret|T0a1B2/);
  },
  'no `API_KEY`': async (t) => {
    t.equal(workspace.env['API_KEY'], undefined);
    t.equal(readFileSync(join(workspace.dir, 'data', 'api-key'), 'utf8').trim(), service.apiKey);
    t.equal(new URL(service.url).hostname, '127.0.0.1');
  },
  '`PATCH /signers/{id}` of an unknown one': async (t) => isFailure(t, await api('PATCH', '/signers/nobody', {}), 404),
  '`config: null` in an update of a plugin': async (t) =>
    t.match(await api('PATCH', '/plugins/one', { config: null }), { status: 200, json: { data: { config: null } } }),
  'the timeout of a plugin in answers': async (t) => t.equal((await api('GET', '/plugins/one')).json.data.timeout, 30),
  'calling a plugin': async (t) => {
    for (const prefix of ['/api/v1', '']) {
      t.match(await raw('POST', `${prefix}/plugins/one/call`, '{}'), { status: 200, json: { data: 1 } });
    }
  },
  'what a plugin is given of a call': async (t) => {
    t.match((await echo('?params={"a":1}', '{"b":2}')).json, { data: { params: { a: 1 } } });
    t.strictSame((await echo('', '')).json.data.params, {});
  },
  'the `Authorization` of who calls a plugin': async (t) => {
    const { names } = (await echo('', '{}', { 'x-other': '1' })).json.data;
    t.ok(names.includes('x-other'));
    t.notOk(names.includes('authorization'));
  },
  'the `config` of plugins in answers': async (t) =>
    t.match(await api('PATCH', '/plugins/echo', { config: { a: 'secret' } }), {
      status: 200,
      json: { data: { config: { a: '[hidden]' } } },
    }),
  'a description of the API': async (t) => {
    t.match((await raw('GET', '/api-docs/openapi.json')).json, { openapi: /^3\.1/ });
    t.equal((await raw('GET', '/api-docs')).status, 200);
  },
  'names of metrics': async (t) =>
    t.ok((await api('GET', '/metrics')).json.some((name: string) => name.startsWith('isolayer_'))),
};

/** Rows that other test files check, with a pattern of the row's text. */
const ELSEWHERE: Record<string, [file: string, says: RegExp]> = {
  'a relayer that fails later': ['test/integration/relayer-health.test.ts', /runs dry while all runs disables/],
  'deleting a relayer': ['test/unit/src/features/relayers/relayers.test.ts', /mined|under way/],
  webhooks: ['test/integration/webhooks-guide.test.ts', /giveUpMs/],
  'API keys': ['test/integration/key-scopes.test.ts', /what nobody has/],
  networks: ['test/integration/settings-api.test.ts', /createNetwork|evm:mine/],
  'status and balance while no endpoint answers': [
    'test/unit/src/features/relayers/relayers.test.ts',
    /balance: null, unit: 'wei', unavailable/,
  ],
  'replacing a transaction of Stellar': ['test/integration/stellar-lanes.test.ts', /nothing replaces a transaction/],
  '`sign` of Solana': ['test/integration/solana-public-client.test.ts', /sdk\.sign\(ID, \{ message: 'hello' \}\)/],
  '`sign-transaction` of Solana': [
    'test/integration/solana-own-funds.test.ts',
    /a key that may sign and not send spends nothing/,
  ],
  '`POST /signers` of `aws_kms` with `region` and `key_id` only': [
    'test/integration/signer-start.test.ts',
    /API_SIGNERS_USE_SERVER_IDENTITY=true/,
  ],
  'a relayer whose network was not reached since it was made': [
    'test/integration/relayer-paused.test.ts',
    /was not reached yet/,
  ],
  metrics: ['test/unit/src/settings/environment.test.ts', /METRICS_ENABLED: true/],
  '`GET /metrics` on the metrics port': [
    'test/unit/src/http/routes/metrics.test.ts',
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
