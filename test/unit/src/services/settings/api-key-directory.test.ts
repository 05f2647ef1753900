import t from 'tap';
import { ApiKeyDirectory } from '../../../../../src/services/settings/api-key-directory.ts';

t.test('a key is found by its hash, with what it may do', async (t) => {
  const key = { id: 'k1', name: 'n', createdAt: 1, permissions: ['metrics:read'], allowedOrigins: ['*'] };
  const stored = new Map([['hash', { ...key, rate: null, expiresAt: null }]]);
  const directory = new ApiKeyDirectory({ apiKeyHashes: async () => stored });
  t.equal(directory.withHash('hash'), undefined);
  await directory.reload();
  const found = directory.withHash('hash');
  t.match(found, { id: 'k1', expiresAt: null });
  t.ok(found?.access.may({ resource: 'metrics', deed: 'read' }));
  t.notOk(found?.access.may({ resource: 'audit', deed: 'read' }));
  stored.clear();
  await directory.reload();
  t.equal(directory.withHash('hash'), undefined);
});

t.test('who listens is told of each reading', async (t) => {
  const directory = new ApiKeyDirectory({ apiKeyHashes: async () => new Map() });
  let told = 0;
  const stop = directory.onChange(() => {
    told += 1;
  });
  await directory.reload();
  t.equal(told, 1);
  stop();
  await directory.reload();
  t.equal(told, 1);
});
