import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openSandbox } from 'isolayer/testing';

const sandbox = await openSandbox({
  folder: new URL('..', import.meta.url).pathname,
  entries: [{ id: 'counter', path: 'counter/index.ts' }],
});
after(() => sandbox.close());

void test('it counts, each name for itself', async () => {
  const count = async (name: string) => (await sandbox.call('counter', { params: { name } })).body.data.count;
  assert.equal(await count('a'), 1);
  assert.equal(await count('a'), 2);
  assert.equal(await count('b'), 1);
  assert.equal(sandbox.values.get('count:a'), 2);
});

void test('calls at once never count as one', async () => {
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => sandbox.call('counter', { params: { name: 'c' } })),
  );
  const counted = answers.filter(({ status }) => status === 200).length;
  assert.equal(sandbox.values.get('count:c'), counted);
});

void test('a bad name is the caller’s fault', async () => {
  assert.equal((await sandbox.call('counter', { params: { name: '../x' } })).status, 400);
});
