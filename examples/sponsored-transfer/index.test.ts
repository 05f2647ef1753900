import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openSandbox } from 'isolayer/testing';

const TO = '0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238';
const sandbox = await openSandbox({
  folder: new URL('..', import.meta.url).pathname,
  entries: [
    {
      id: 'transfer',
      path: 'sponsored-transfer/index.ts',
      config: { relayer: 'sepolia-1', allowance: '100' },
      permissions: { relayers: { 'sepolia-1': ['read', 'send'] }, kv: true },
    },
  ],
  relayers: { 'sepolia-1': {} },
});
after(() => sandbox.close());
const pay = (value: string) => sandbox.call('transfer', { params: { to: TO, value } });

void test('a receiver is paid until its allowance is spent', async () => {
  const paid = await pay('60');
  assert.equal(paid.status, 200, JSON.stringify(paid.body));
  assert.equal(paid.body.data.status, 'mined');
  assert.deepEqual(sandbox.sent, [{ relayerId: 'sepolia-1', request: { to: TO, value: '60', speed: 'fast' } }]);
  const refused = await pay('41');
  assert.equal(refused.status, 403);
  assert.equal(refused.body.data.code, 'ALLOWANCE_SPENT');
  assert.equal((await pay('40')).status, 200);
  assert.equal(sandbox.sent.length, 2);
});

void test('what is no amount is the caller’s fault', async () => {
  for (const value of ['', '-1', '1.5', '1e9']) assert.equal((await pay(value)).status, 400);
});
