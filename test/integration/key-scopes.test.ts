/**
 * The promise: two keys without access to each other's resources cannot see, slow or back off each other. What could
 * break it: answers that reveal that something exists, shared counters, shared names, or permissions that change during
 * requests.
 */
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { startAnvil } from '../support/anvil.ts';
import { composeService } from '../support/composed-service.ts';
import { createWorkspace } from '../support/workspace.ts';

const PLUGIN = 'export async function handler() { return 1; }';
/** The key's own limit, which is lower than the service's. */
const RATE = { requests_per_second: 1, burst: 20 };
const CLIENTS = 200;

const anvil = await startAnvil({ blockTime: 0.1 });
t.teardown(() => anvil.stop());
const workspace = await createWorkspace({
  rpcUrl: anvil.url,
  accounts: 2,
  plugins: [
    ...['one', 'two'].map((id) => ({ id, path: `${id}.ts` })),
    {
      id: 'three',
      path: 'three.ts',
      permissions: {
        relayers: { 'local-1': { methods: ['send'], value_per_hour: 5 }, 'local-2': { methods: ['send'] } },
      },
    },
  ],
  pluginFiles: { 'one.ts': PLUGIN, 'two.ts': PLUGIN, 'three.ts': PLUGIN },
  env: { RATE_LIMIT_REQUESTS_PER_SECOND: '100000', RATE_LIMIT_BURST_SIZE: '100000' },
});
t.teardown(() => workspace.remove());
for (const address of workspace.addresses) await anvil.rpc('anvil_setBalance', [address, '0xde0b6b3a7640000']);
const service = await composeService(workspace.env);
t.teardown(() => service.stop());

interface Answer {
  status: number;
  text: string;
  json: { data: unknown; code?: string; pagination?: { total_items: number } };
}

async function ask(key: string, method: string, path: string, body?: unknown, headers = {}): Promise<Answer> {
  const response = await fetch(`${service.url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, text, json: text.startsWith('{') ? JSON.parse(text) : {} };
}

async function keyFor(relayer: string, plugin: string, more: object = {}): Promise<{ id: string; key: string }> {
  const permissions = [`relayers:${relayer}:*`, `plugins:${plugin}:*`];
  const made = await service.request('POST', '/api/v1/api-keys', { name: relayer, permissions, ...more });
  return made.body.data;
}

const one = await keyFor('local-1', 'one');
const two = await keyFor('local-2', 'two');
const sign = (key: string, relayer: string) =>
  ask(key, 'POST', `/api/v1/relayers/${relayer}/sign`, { message: 'hello' });

t.test('what the other has is answered, on every path, as what nobody has', async (t) => {
  const { paths } = JSON.parse((await ask('', 'GET', '/api-docs/openapi.json')).text) as {
    paths: Record<string, Record<string, { 'x-permission'?: string; requestBody?: { content: object } }>>;
  };
  let asked = 0;
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      const [, kind] = /^(relayers|plugins):\{id\}:/.exec(operation['x-permission'] ?? '') ?? [];
      if (kind === undefined) continue;
      const [content] = Object.values(operation.requestBody?.content ?? {}) as { example?: unknown }[];
      const of = async (id: string) => {
        const url = path.replace('{id}', id).replace(/\{\w+\}/g, '7');
        const { status, text } = await ask(two.key, method.toUpperCase(), url, content?.example);
        return `${status} ${text.replaceAll(id, 'ID')}`;
      };
      const theirs = await of(kind === 'relayers' ? 'local-1' : 'one');
      // As near as the other's, so that the hint at the key's own is the same.
      t.equal(theirs, await of(kind === 'relayers' ? 'local-9' : 'nobody'), `${method} ${path}`);
      t.notMatch(theirs, /mean "local-1"/);
      t.match(theirs, /^404 /, `${method} ${path}`);
      asked += 1;
    }
  }
  t.ok(asked > 25, `${asked} operations were asked`);
  for (const [list, own] of [
    ['/api/v1/relayers', 'local-2'],
    ['/api/v1/plugins', 'two'],
  ]) {
    const { json } = await ask(two.key, 'GET', `${list}?per_page=500`);
    t.match(json, { data: [{ id: own }], pagination: { total_items: 1 } }, 'nor does a list count it');
  }
  const batch = await ask(two.key, 'POST', '/api/v1/transactions/batch', {
    requests: [{ relayer_id: 'local-1', transaction: {} }],
  });
  t.match(batch.json.data, [{ status: 404, code: 'RELAYER_NOT_FOUND' }]);
});

t.test('the smallest key is told what it may do, one that is over is not', async (t) => {
  const path = '/api/v1/api-keys/current';
  const make = async (permission: string, more = {}) => {
    const body = { name: permission, permissions: [permission], ...more };
    return (await service.request('POST', '/api/v1/api-keys', body)).body.data;
  };
  const bounds = { rate_limit: RATE, allowed_origins: ['https://app.example'], expires_at: '2999-01-01T00:00:00Z' };
  for (const permission of [
    ...['relayers:local-1:read', 'relayers:nobody:send', 'plugins:one:call', 'notifications:read', 'signers:read'],
    ...['networks:read', 'api-keys:read', 'audit:read', 'metrics:read'],
  ]) {
    const { id, key } = await make(permission, bounds);
    const answer = await ask(key, 'GET', path);
    const { data } = answer.json;
    t.match([answer.status, data], [200, { id, permissions: [permission], rate_limit: RATE }], permission);
    t.strictSame(data, (await service.request('GET', `/api/v1/api-keys/${id}`)).body.data, 'as others see it');
    t.notMatch(answer.text, key);
    t.equal((await ask(key, 'GET', path, undefined, { origin: 'https://other.example' })).status, 403);
    t.equal((await service.request('DELETE', `/api/v1/api-keys/${id}`)).status, 200);
    t.equal((await ask(key, 'GET', path)).status, 401, 'revoked');
  }
  const { key } = await make('metrics:read', { expires_at: new Date(Date.now() + 2_000).toISOString() });
  let status = 0;
  for (; status === 0 || status === 200; await delay(50)) status = (await ask(key, 'GET', path)).status;
  t.equal(status, 401, 'its time is over');
  t.equal((await ask('', 'GET', path)).status, 401);
  t.match((await service.request('GET', path)).body.data, { id: 'default', permissions: ['*'], rate_limit: null });
});

t.test('nobody signs with a key or tells a webhook through a relayer of their own making', async (t) => {
  await service.request('POST', '/api/v1/notifications', { id: 'theirs', url: 'https://hooks.example/' });
  const own = { network_type: 'evm', chain_id: 5, rpc_urls: ['https://rpc.example'] };
  t.equal((await service.request('POST', '/api/v1/networks', { ...own, name: 'other' })).status, 201);
  const permissions = ['relayers:write', 'relayers:mine:send', 'relayers:mine:sign'];
  const maker = (await service.request('POST', '/api/v1/api-keys', { name: 'maker', permissions })).body.data.key;
  const mine = { id: 'mine', name: 'Mine', network: 'other', network_type: 'evm', paused: false };
  const [theirs, nobodys] = await Promise.all(
    ['local-key', 'no-key'].map((signer_id) => ask(maker, 'POST', '/api/v1/relayers', { ...mine, signer_id })),
  );
  t.match(theirs, { status: 404, json: { code: 'SIGNER_NOT_FOUND' } });
  t.equal(theirs?.text.replaceAll('local-key', 'no-key'), nobodys?.text);
  t.equal((await sign(maker, 'mine')).status, 404);
  for (const id of ['theirs', 'nobodys']) {
    const answer = await ask(two.key, 'PATCH', '/api/v1/relayers/local-2', { notification_id: id });
    t.match(answer, { status: 404, json: { code: 'NOTIFICATION_NOT_FOUND' } }, id);
  }
  t.equal((await service.request('GET', '/api/v1/relayers/local-2')).body.data.notification_id, undefined);
});

t.test('who may change webhooks may point those elsewhere that unseen relayers tell', async (t) => {
  const path = '/api/v1/relayers/local-2';
  t.equal((await service.request('PATCH', path, { notification_id: 'theirs' })).status, 200);
  const permissions = ['notifications:write'];
  const { key } = (await service.request('POST', '/api/v1/api-keys', { name: 'hooks', permissions })).body.data;
  t.match((await ask(key, 'GET', '/api/v1/relayers')).json, { data: [], pagination: { total_items: 0 } });
  const moved = await ask(key, 'PATCH', '/api/v1/notifications/theirs', { url: 'https://else.example/' });
  t.match(moved, { status: 200, json: { data: { url: 'https://else.example/' } } });
  t.equal((await service.request('PATCH', path, { notification_id: null })).status, 200);
});

t.test('a plugin shows a key none of the relayers that do not exist for it', async (t) => {
  const permissions = ['plugins:three:call', 'relayers:local-2:read'];
  const { key } = (await service.request('POST', '/api/v1/api-keys', { name: 'three', permissions })).body.data;
  const seen = async (path: string) => (await ask(key, 'GET', path)).json.data;
  const only = { permissions: { relayers: { 'local-2': { methods: ['send'] } } } };
  t.match(await seen('/api/v1/plugins/three'), only);
  t.match(await seen('/api/v1/plugins'), [only]);
  t.notMatch(JSON.stringify([await seen('/api/v1/plugins/three'), await seen('/api/v1/plugins')]), 'local-1');
  t.match((await service.request('GET', '/api/v1/plugins/three')).body.data.permissions.relayers, { 'local-1': {} });
});

t.test('a key that makes keys does not end those that may do more', async (t) => {
  const make = async (permissions: string[]) =>
    (await service.request('POST', '/api/v1/api-keys', { name: 'k', permissions })).body.data;
  const [keys, strong] = [await make(['api-keys:write']), await make(['*'])];
  for (const [method, body] of [['DELETE'], ['PATCH', { permissions: ['api-keys:write'] }]] as const) {
    const answer = await ask(keys.key, method, `/api/v1/api-keys/${strong.id}`, body);
    t.match(answer, { status: 403, json: { code: 'PERMISSION_NOT_HELD' } }, method);
  }
  t.equal((await sign(strong.key, 'local-1')).status, 200);
  t.equal((await ask(keys.key, 'DELETE', `/api/v1/api-keys/${keys.id}`)).status, 200, 'its own it may');
});

t.test('origins narrow who may use a key, and let no page of another origin in', async (t) => {
  const { key } = await keyFor('local-1', 'one', { allowed_origins: ['https://app.example'] });
  const from = (origin: string, method = 'GET') =>
    fetch(`${service.url}/api/v1/relayers`, { method, headers: { origin, authorization: `Bearer ${key}` } });
  const answers = [from('https://app.example'), from('https://other.example'), from('https://app.example', 'OPTIONS')];
  const [own, other, asked] = await Promise.all(answers);
  t.strictSame([own?.status, other?.status, asked?.status], [200, 403, 405]);
  for (const answer of [own, asked]) t.equal(answer?.headers.get('access-control-allow-origin'), null);
  t.equal((await ask(key, 'GET', '/api/v1/relayers')).status, 200, 'a program names no origin');
});

t.test('one name for an idempotency key is two, and each has the answer to its own', async (t) => {
  const named = { 'idempotency-key': 'payment-1' };
  const keyed = (key: string, relayer: string, message: string) =>
    ask(key, 'POST', `/api/v1/relayers/${relayer}/sign`, { message }, named);
  const [first, other] = await Promise.all([keyed(one.key, 'local-1', 'a'), keyed(two.key, 'local-2', 'b')]);
  t.match([first, other], [{ status: 200 }, { status: 200 }]);
  t.not(first.text, other.text);
  t.equal((await keyed(one.key, 'local-1', 'a')).text, first.text);
  t.equal((await keyed(two.key, 'local-2', 'b')).text, other.text);
});

t.test(`of ${CLIENTS} clients at once each key is served its own burst, whatever the other asks for`, async (t) => {
  const limited = await keyFor('local-2', 'two', { rate_limit: RATE });
  const began = performance.now();
  const [theirs, mine] = await Promise.all([
    Promise.all(Array.from({ length: CLIENTS }, () => sign(limited.key, 'local-2'))),
    Promise.all(Array.from({ length: CLIENTS }, () => sign(one.key, 'local-1'))),
  ]);
  const back = Math.ceil((performance.now() - began) / 1000) * RATE.requests_per_second;
  const served = theirs.filter(({ status }) => status === 200).length;
  t.ok(served >= RATE.burst && served <= RATE.burst + back, `${served} of a burst of ${RATE.burst}, ${back} came back`);
  t.ok(theirs.every(({ status }) => status === 200 || status === 429));
  t.ok(
    mine.every(({ status }) => status === 200),
    'the other never waits',
  );
  t.equal((await sign(two.key, 'local-2')).status, 200, 'nor does another key for the same relayer');
});

t.test('a key shares its rate with all keys that come from it, also once it is gone', async (t) => {
  const rate_limit = { requests_per_second: 1, burst: 8 };
  const make = async (key: string, name: string, more: object = {}) => {
    const body = { name, permissions: ['networks:read', 'api-keys:write'], ...more };
    const { data } = (await ask(key, 'POST', '/api/v1/api-keys', body)).json as { data: { id: string; key: string } };
    return data;
  };
  /** How many of these requests are served. */
  const served = async (keys: readonly string[], each: number) => {
    const all = keys.flatMap((key) => Array.from({ length: each }, () => ask(key, 'GET', '/api/v1/networks')));
    return (await Promise.all(all)).filter(({ status }) => status === 200).length;
  };
  const parent = await make(service.apiKey, 'parent', { rate_limit });
  const children = [await make(parent.key, 'one'), await make(parent.key, 'two')];
  const grandchild = await make(children[0]?.key ?? '', 'three', { rate_limit: { requests_per_second: 1, burst: 2 } });
  const keys = [parent, ...children, grandchild].map(({ key }) => key);
  const began = performance.now();
  const count = await served(keys, 6);
  const back = Math.ceil((performance.now() - began) / 1000);
  t.ok(count <= rate_limit.burst - 3 + back + 1, `${count} of 24; three keys were made of a burst of 8`);

  t.equal((await service.request('DELETE', `/api/v1/api-keys/${parent.id}`)).status, 200);
  const since = performance.now();
  const after = await served(keys.slice(1), 6);
  t.ok(
    after <= 3 + Math.ceil((performance.now() - since) / 1000),
    `${after}: to delete a key frees no key that it made`,
  );
});

t.test('whoever overtakes a change of permissions has what it was before or is after, and no more', async (t) => {
  const guest = await keyFor('local-2', 'two');
  const may = (relayer: string) =>
    service.request('PATCH', `/api/v1/api-keys/${guest.id}`, { permissions: [`relayers:${relayer}:*`] });
  const seen = new Set<number>();
  for (let round = 0; round < 20; round += 1) {
    const now = round % 2 === 0 ? 'local-1' : 'local-2';
    const before = now === 'local-1' ? 'local-2' : 'local-1';
    const racing = Array.from({ length: 10 }, (_, n) => sign(guest.key, n % 2 === 0 ? now : before));
    t.equal((await may(now)).status, 200);
    const after = await Promise.all([sign(guest.key, now), sign(guest.key, before), sign(one.key, 'local-1')]);
    t.strictSame(
      after.map(({ status }) => status),
      [200, 404, 200],
      'once it is answered it holds',
    );
    for (const { status } of await Promise.all(racing)) seen.add(status);
  }
  t.strictSame(
    [...seen].filter((status) => status !== 200 && status !== 404),
    [],
  );
  t.equal((await service.request('DELETE', `/api/v1/api-keys/${guest.id}`)).status, 200);
  t.equal((await sign(guest.key, 'local-2')).status, 401);
  t.equal((await sign(two.key, 'local-2')).status, 200);
});

t.test('the log names the key of whoever signed, sent, changed something or was refused', async (t) => {
  const { id, key } = await keyFor('local-1', 'one');
  const payment = { to: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8', value: 1, speed: 'fast' };
  t.equal((await sign(key, 'local-1')).status, 200);
  t.equal((await ask(key, 'POST', '/api/v1/relayers/local-1/transactions', payment)).status, 200);
  t.equal((await ask(key, 'PATCH', '/api/v1/relayers/local-1', { name: 'Anew' })).status, 200);
  const seen = await service.request('POST', '/api/v1/api-keys', { name: 'r', permissions: ['relayers:local-1:read'] });
  t.equal((await sign(seen.body.data.key, 'local-1')).status, 403);
  const lines = service
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'));
  const of = (keyId: string) => lines.map((line) => JSON.parse(line)).filter((line) => line.keyId === keyId);
  t.match(of(id), [
    { msg: 'audited', action: 'sign', resource: 'signature', resourceId: 'local-1', requestId: String },
    { msg: 'transaction accepted', relayer: 'local-1', requestId: String },
    { msg: 'audited', action: 'update', resource: 'relayer', resourceId: 'local-1', requestId: String },
  ]);
  const accepted = of(id).find(({ msg }) => msg === 'transaction accepted') ?? {};
  const about = ['level', 'time', 'transaction', 'relayer', 'keyId', 'requestId', 'msg'];
  t.strictSame(Object.keys(accepted).toSorted(), about.toSorted(), 'and nothing else of the caller');
  t.match(of(seen.body.data.id), [{ level: 'info', msg: 'request refused', code: 'NOT_PERMITTED' }]);
});
