/** The interface that the user specified, table by table, against a running server. */
import t, { type Test } from 'tap';
import { composeService } from '../support/composed-service.ts';
import type { AnswerBody, StartedService } from '../support/service.ts';
import { createWorkspace } from '../support/workspace.ts';

const NOWHERE = 'http://127.0.0.1:9';

/** Relayers of all three types that share a keystore. Nothing listens at their endpoints. */
const RELAYERS = [
  { id: 'evm-1', network: 'sepolia', network_type: 'evm', custom_rpc_urls: [{ url: NOWHERE, weight: 100 }] },
  { id: 'sol-1', network: 'devnet', network_type: 'solana', custom_rpc_urls: [NOWHERE] },
  {
    id: 'xlm-1',
    network: 'testnet',
    network_type: 'stellar',
    custom_rpc_urls: [NOWHERE],
    policies: { fee_payment_strategy: 'relayer' },
  },
].map((relayer) => ({ name: relayer.id, paused: false, signer_id: 'local-key', ...relayer }));

/** The method, path and body of a request, and its status on success. */
const ENDPOINTS: [string, string, unknown, number][] = [
  ['POST', '/plugins/echo/call', { a: 1 }, 200],
  ['POST', '/plugins/echo/call/x', { a: 1 }, 200],
  ['GET', '/relayers', undefined, 200],
  ['PATCH', '/relayers/evm-1', { name: 'Renamed' }, 200],
  ['GET', '/notifications', undefined, 200],
  ['POST', '/notifications', { id: 'hook-1', url: 'https://example.com/hook', signing_key: 'k'.repeat(32) }, 201],
  ['PATCH', '/notifications/hook-1', { url: 'https://example.com/other' }, 200],
  ['GET', '/health', undefined, 200],
];

/** An operation, a request that fails, and the expected field and text of the answer. */
const ERRORS: [
  string,
  { method: string; path: string; body?: unknown },
  number,
  'error' | 'message',
  string | RegExp,
][] = [
  ['plugin id unknown', { method: 'POST', path: '/plugins/nobody/call', body: {} }, 404, 'error', /nobody not found/],
  ['relayer list invalid', { method: 'GET', path: '/relayers?page=-1' }, 400, 'message', 'Bad Request'],
  [
    'relayer update invalid',
    { method: 'PATCH', path: '/relayers/evm-1', body: { paused: 1 } },
    400,
    'message',
    'Bad Request',
  ],
  [
    'relayer update unknown',
    { method: 'PATCH', path: '/relayers/no', body: { paused: true } },
    404,
    'message',
    /no not found/,
  ],
  ['notification list invalid', { method: 'GET', path: '/notifications?per_page=x' }, 400, 'message', 'Bad Request'],
  ['notification create invalid', { method: 'POST', path: '/notifications', body: {} }, 400, 'message', 'Bad Request'],
  [
    'notification update invalid',
    { method: 'PATCH', path: '/notifications/hook-1', body: { url: 1 } },
    400,
    'message',
    'Bad Request',
  ],
  [
    'notification update unknown',
    { method: 'PATCH', path: '/notifications/no', body: {} },
    404,
    'message',
    'Notification not found',
  ],
  [
    'notification id used',
    { method: 'POST', path: '/notifications', body: { id: 'hook-1', url: 'https://a.example' } },
    409,
    'message',
    'Notification with this ID already exists',
  ],
];

/** By relayer and policy field: a valid value, and values that are refused. */
const POLICIES: Record<string, Record<string, { good: unknown; bad: unknown[] }>> = {
  'evm-1': {
    eip1559_pricing: { good: true, bad: ['yes', 1] },
    gas_limit_estimation: { good: false, bad: ['no'] },
    gas_price_cap: { good: 0, bad: [-1, 1.5, 'many'] },
    min_balance: { good: 1, bad: [-1, 0.5, []] },
    private_transactions: { good: false, bad: [true, 0] },
    whitelist_receivers: { good: [`0x${'a'.repeat(40)}`], bad: ['0x', [1]] },
  },
  'sol-1': {
    allowed_accounts: { good: ['11111111111111111111111111111111'], bad: ['1', [1]] },
    allowed_programs: { good: ['11111111111111111111111111111111'], bad: [[1]] },
    fee_margin_percentage: { good: 1.5, bad: ['1', -1] },
    fee_payment_strategy: { good: 'relayer', bad: ['nobody', 1] },
    max_allowed_fee_lamports: { good: 0, bad: [-1, 1.5] },
    max_signatures: { good: 1, bad: [-1, 2 ** 31] },
    max_tx_data_size: { good: 1232, bad: [-1, 2 ** 31] },
    min_balance: { good: 0, bad: [-1] },
  },
  'xlm-1': {
    concurrent_transactions: { good: true, bad: [1] },
    fee_margin_percentage: { good: 0, bad: ['x'] },
    fee_payment_strategy: { good: 'user', bad: ['nobody'] },
    max_fee: { good: 100, bad: [-1, 2 ** 31] },
    min_balance: { good: 0, bad: [-1] },
    slippage_percentage: { good: 1, bad: ['x'] },
    timeout_seconds: { good: 30, bad: [-1, 1.5] },
  },
};

t.test('the seed', async (t) => {
  const workspace = await createWorkspace({
    rpcUrl: NOWHERE,
    config: { relayers: RELAYERS },
    pluginFiles: {
      'echo.ts': `export const handler = ({ route, params }) => ({ route, params });`,
      'strict.ts': `export const handler = () => {
        throw Object.assign(new Error('no amount'), { code: 'VALIDATION_FAILED', status: 422, details: { field: 'amount' } });
      };`,
    },
    plugins: [{ id: 'strict', path: 'strict.ts', emit_logs: true }],
  });
  t.teardown(() => workspace.remove());
  const service = await composeService(workspace.env);
  t.teardown(() => service.stop());
  const ask = (method: string, path: string, body?: unknown) => service.request(method, `/api/v1${path}`, body);

  for (const [method, path, body, status] of ENDPOINTS) {
    const answer = await ask(method, path, body);
    t.equal(answer.status, status, `${method} ${path}`);
    if (path === '/health') t.equal(answer.body, 'OK');
    else t.match(answer.body, { success: true, error: null }, `${method} ${path}: the envelope`);
    if (path !== '/health') t.equal(await withoutKey(service, method, `/api/v1${path}`), 'Unauthorized');
  }
  await t.test('routing of plugin calls', (t) => routing(t, ask));
  for (const [name, { method, path, body }, status, field, text] of ERRORS) {
    const answer = await ask(method, path, body);
    t.equal(answer.status, status, name);
    t.match(answer.body, { success: false, data: null, [field]: text }, name);
  }
  t.match((await ask('POST', '/plugins/strict/call', {})).body, {
    success: false,
    data: { code: 'VALIDATION_FAILED', details: { field: 'amount' } },
    error: 'no amount',
    metadata: { logs: [] },
  });
  await t.test('policies', (t) => policies(t, ask));
  await t.test('signing keys of notifications', (t) => signingKeys(t, ask));
  await t.test('lists', (t) => lists(t, ask));
});

type Ask = (method: string, path: string, body?: unknown) => Promise<{ status: number; body: AnswerBody }>;

async function withoutKey(service: StartedService, method: string, path: string): Promise<unknown> {
  const answer: AnswerBody = await (await fetch(`${service.url}${path}`, { method })).json();
  return answer.message;
}

async function routing(t: Test, ask: Ask): Promise<void> {
  const rules: [string, string][] = [
    ['/plugins/echo/call', ''],
    ['/plugins/echo/call?route=/name', '/name'],
    ['/plugins/echo/call?route=name', 'name'],
    ['/plugins/echo/call/verify', '/verify'],
  ];
  for (const [path, route] of rules) t.equal((await ask('POST', path, {})).body.data.route, route, path);
  t.same((await ask('POST', '/plugins/echo/call', { whole: 1 })).body.data.params, { whole: 1 });
  t.same((await ask('POST', '/plugins/echo/call?params=%7B%22q%22%3A1%7D', { whole: 1 })).body.data.params, { q: 1 });
}

async function policies(t: Test, ask: Ask): Promise<void> {
  for (const [id, fields] of Object.entries(POLICIES)) {
    for (const [field, { good, bad }] of Object.entries(fields)) {
      const set = await ask('PATCH', `/relayers/${id}`, { policies: { [field]: good } });
      t.equal(set.status, 200, `${id} ${field}: ${JSON.stringify(set.body.error)}`);
      t.same(set.body.data.policies[field], good, `${id} ${field}`);
      for (const value of bad) {
        const refused = await ask('PATCH', `/relayers/${id}`, { policies: { [field]: value } });
        t.same(
          [refused.status, refused.body.message],
          [400, 'Bad Request'],
          `${id} ${field} = ${JSON.stringify(value)}`,
        );
      }
      if (field === 'fee_payment_strategy') continue;
      t.equal(
        (await ask('PATCH', `/relayers/${id}`, { policies: { [field]: null } })).status,
        200,
        `${id} ${field}: null`,
      );
    }
    const unknown = await ask('PATCH', `/relayers/${id}`, { policies: { not_a_policy: 1 } });
    t.match(unknown.body, { success: false, message: 'Bad Request', error: /not_a_policy/ });
  }
}

async function signingKeys(t: Test, ask: Ask): Promise<void> {
  const steps: [unknown, boolean][] = [
    [{}, true],
    [{ signing_key: null }, true],
    [{ signing_key: '' }, false],
    [{ signing_key: 'new' }, true],
  ];
  for (const [body, hasKey] of steps) {
    const { body: answer } = await ask('PATCH', '/notifications/hook-1', body);
    t.equal(answer.data.has_signing_key, hasKey, JSON.stringify(body));
    t.notOk('signing_key' in answer.data, 'the key itself is never returned');
  }
}

async function lists(t: Test, ask: Ask): Promise<void> {
  const rows: [string, number, object][] = [
    ['/relayers', 3, { current_page: 1, per_page: 10, total_items: 3 }],
    ['/relayers?page=0', 3, { current_page: 1 }],
    ['/relayers?page=2&per_page=2', 1, { current_page: 2, per_page: 2 }],
    ['/relayers?per_page=0', 0, { per_page: 0, total_items: 3 }],
    ['/notifications', 1, { current_page: 1, per_page: 10, total_items: 1 }],
  ];
  for (const [path, count, pagination] of rows) {
    const { body } = await ask('GET', path);
    t.equal(body.data.length, count, path);
    t.match(body.pagination, pagination, path);
  }
  const { body } = await ask('GET', '/relayers');
  for (const relayer of body.data) {
    t.match(relayer, { id: String, name: String, network: String, network_type: String, address: String });
    t.match(relayer, { paused: false, system_disabled: Boolean, signer_id: 'local-key' });
  }
  t.match(
    body.data.find(({ id }: { id: string }) => id === 'evm-1'),
    { system_disabled: true, disabled_reason: { type: String } },
  );
}
