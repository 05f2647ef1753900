import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openSandbox } from 'isolayer/testing';

const [LOW, HIGH, FAILED] = [`0x${'aa'.repeat(20)}`, `0x${'bb'.repeat(20)}`, `0x${'cc'.repeat(20)}`];
const config = (...ids: string[]) => ({
  treasury: 'treasury',
  relayers: Object.fromEntries(ids.map((id) => [id, { below: '50', up_to: '200' }])),
});
const read = { methods: ['read' as const] };
const permissions = {
  relayers: { treasury: { methods: ['read' as const, 'send' as const] }, low: read, high: read, failed: read },
  kv: true,
};
let failed = false;
const sandbox = await openSandbox({
  folder: new URL('..', import.meta.url).pathname,
  entries: [{ id: 'refill', path: 'refill/index.ts', permissions, config: config('low', 'high') }],
  relayers: {
    treasury: { transaction: () => ({ status: failed ? 'failed' : 'mined' }) },
    low: { info: { address: LOW }, status: { balance: '30' } },
    high: { info: { address: HIGH }, status: { balance: '50' } },
    failed: { info: { address: FAILED }, status: { balance: null } },
  },
});
after(() => sandbox.close());

void test('who has less than the bound is filled up, and nobody else', async () => {
  const { status, body } = await sandbox.call('refill');
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual(Object.keys(body.data.filled), ['low']);
  const [sent, ...others] = sandbox.sent;
  assert.deepEqual(sent, { relayerId: 'treasury', request: { to: LOW, value: '170', speed: 'fast' } });
  assert.equal(others.length, 0);
});

void test('calls at once fill it up once', async () => {
  const before = sandbox.sent.length;
  const answers = await Promise.all([sandbox.call('refill'), sandbox.call('refill'), sandbox.call('refill')]);
  const filled = answers.filter(({ body }) => 'low' in body.data.filled).length;
  assert.equal(sandbox.sent.length - before, filled);
});

void test('a refill that fails is an error', async () => {
  failed = true;
  const { status, body } = await sandbox.call('refill');
  assert.equal(status, 502);
  assert.equal(body.data.code, 'NOT_FILLED');
});
