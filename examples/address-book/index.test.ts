import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openSandbox } from 'isolayer/testing';

const sandbox = await openSandbox({
  folder: new URL('..', import.meta.url).pathname,
  entries: [{ id: 'book', path: 'address-book/index.ts', allow_get_invocation: true }],
});
after(() => sandbox.close());

void test('what is saved is shown and listed', async () => {
  const saved = await sandbox.call('book', { route: '/save/usdc', params: { address: '0x1' } });
  assert.deepEqual(saved.body.data, { name: 'usdc', address: '0x1' });
  assert.deepEqual((await sandbox.call('book', { route: '/show/usdc', method: 'GET' })).body.data.address, '0x1');
  assert.deepEqual((await sandbox.call('book', { route: '/list' })).body.data, { names: ['usdc'] });
});

void test('what is not there is 404, and a GET saves nothing', async () => {
  assert.equal((await sandbox.call('book', { route: '/show/nobody' })).status, 404);
  assert.equal((await sandbox.call('book', { route: '/elsewhere' })).status, 404);
  assert.equal((await sandbox.call('book', { route: '/save/x', method: 'GET' })).status, 405);
});
