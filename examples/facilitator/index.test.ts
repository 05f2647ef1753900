import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openSandbox } from 'isolayer/testing';

const PAID = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const payment = { asset: `0x${'33'.repeat(20)}`, data: '0xe3ee160e', to: PAID, value: '1000' };
const sandbox = await openSandbox({
  folder: new URL('..', import.meta.url).pathname,
  entries: [
    {
      id: 'facilitator',
      path: 'facilitator/index.ts',
      raw_response: true,
      allow_get_invocation: true,
      config: { relayer: 'r', network: 'eip155:31337', pay_to: PAID, least: '1000' },
      permissions: { relayers: { r: ['read', 'send'] } },
    },
  ],
  relayers: { r: { transaction: () => ({ status: 'confirmed', hash: '0xabc' }) } },
});
after(() => sandbox.close());
const at = async (route: string, params = {}) => await sandbox.call('facilitator', { route, params });

void test('each route answers without an envelope', async () => {
  assert.deepEqual(
    (await sandbox.call('facilitator', { route: '/supported', method: 'GET' })).body.kinds[0].scheme,
    'exact',
  );
  assert.deepEqual((await at('/verify', payment)).body, { isValid: true });
  assert.deepEqual((await at('/verify', { ...payment, value: '999' })).body, {
    isValid: false,
    invalidReason: 'too_little',
  });
  assert.deepEqual((await at('/settle', payment)).body, {
    success: true,
    transaction: '0xabc',
    network: 'eip155:31337',
  });
  assert.deepEqual((await at('/settle')).body.errorReason, 'malformed');
  assert.equal(sandbox.sent.length, 1);
  const missing = await at('/other');
  assert.deepEqual([missing.status, missing.body.code], [404, 'NOT_FOUND']);
});
