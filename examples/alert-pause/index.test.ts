import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openSandbox } from 'isolayer/testing';

const CONTRACT = '0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238';
let isPaused = false;
const sandbox = await openSandbox({
  folder: new URL('..', import.meta.url).pathname,
  entries: [
    {
      id: 'alert-pause',
      path: 'alert-pause/index.ts',
      config: { relayer: 'r', contract: CONTRACT, titles: ['large withdrawal'] },
      permissions: { relayers: { r: { methods: ['read', 'send', 'rpc'], selectors: ['pause()'] } } },
    },
  ],
  relayers: { r: { rpc: () => `0x${(isPaused ? '1' : '0').padStart(64, '0')}` } },
});
after(() => sandbox.close());

const alert = (title: string) =>
  sandbox.call('alert-pause', {
    trigger: { name: 'alert', event: { headers: {}, body: { title, body: 'what was seen' } } },
  });

void test('an alert pauses the contract, another one does not', async () => {
  const { status, body } = await alert('large withdrawal');
  assert.equal(status, 200, JSON.stringify(body));
  assert.equal(body.data.paused, 'now');
  assert.deepEqual(sandbox.sent, [
    { relayerId: 'r', request: { to: CONTRACT, value: 0, data: '0x8456cb59', speed: 'fastest' } },
  ]);
  assert.deepEqual((await alert('a new holder')).body.data, { ignored: 'a new holder' });
  isPaused = true;
  assert.equal((await alert('large withdrawal')).body.data.paused, 'before');
  assert.equal(sandbox.sent.length, 1);
});

void test('nobody but the webhook pauses', async () => {
  const { status, body } = await sandbox.call('alert-pause', { params: { title: 'large withdrawal' } });
  assert.deepEqual([status, body.data.code], [403, 'NOT_ALLOWED']);
});
