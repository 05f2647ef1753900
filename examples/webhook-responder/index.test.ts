import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, test } from 'node:test';
import { openSandbox } from 'isolayer/testing';

const SECRET = 'shared';
const sandbox = await openSandbox({
  folder: new URL('..', import.meta.url).pathname,
  env: { WEBHOOK_SECRET: SECRET },
  entries: [
    {
      id: 'responder',
      path: 'webhook-responder/index.ts',
      config: { relayer: 'r', contract: `0x${'22'.repeat(20)}`, selector: '0x8456cb59' },
      permissions: { relayers: { r: ['send'] }, env: ['WEBHOOK_SECRET'], kv: true },
    },
  ],
  relayers: { r: {} },
});
after(() => sandbox.close());

const deliver = (alert: object, secret = SECRET) => {
  const payload = JSON.stringify(alert);
  const signature = createHmac('sha256', secret).update(payload).digest('hex');
  return sandbox.call('responder', { params: { payload }, headers: { 'x-signature': [signature] } });
};

void test('a critical alert is answered once', async () => {
  const first = await deliver({ id: 'a1', severity: 'critical' });
  assert.deepEqual(first.body.data, { id: 'tx-1', repeated: false });
  assert.deepEqual((await deliver({ id: 'a1', severity: 'critical' })).body.data, { id: 'tx-1', repeated: true });
  assert.equal(sandbox.sent.length, 1);
  assert.deepEqual((await deliver({ id: 'a2', severity: 'low' })).body.data, { ignored: 'a2' });
});

void test('nobody else can have something sent', async () => {
  assert.equal((await deliver({ id: 'a3', severity: 'critical' }, 'guessed')).status, 401);
  assert.equal((await sandbox.call('responder', { params: { payload: '{}' } })).status, 401);
  assert.equal(sandbox.sent.length, 1);
});
