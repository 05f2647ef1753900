import t from 'tap';
import { ApiKeyDirectory } from '../../../../../src/features/api-keys/api-key-directory.ts';

t.test('a key is found by its hash, with what it may do', async (t) => {
  const key = { id: 'k1', name: 'n', createdAt: 1, permissions: ['metrics:read'], allowedOrigins: ['*'] };
  const stored = new Map([['hash', { ...key, rate: null, expiresAt: null, ancestors: [] }]]);
  const directory = new ApiKeyDirectory({ apiKeyHashes: async () => stored });
  t.equal(directory.withHash('hash'), undefined);
  await directory.reload();
  const found = directory.withHash('hash');
  t.match(found, { id: 'k1', expiresAt: null });
  t.ok(found?.access.may({ resource: 'metrics', action: 'read' }));
  t.notOk(found?.access.may({ resource: 'audit', action: 'read' }));
  stored.clear();
  await directory.reload();
  t.equal(directory.withHash('hash'), undefined);
});

t.test('a key shares the rates of the keys that made it, as they are now, or were when they went', async (t) => {
  const rate = (perSecond: number) => ({ perSecond, burst: 10 });
  const key = { name: 'n', createdAt: 1, permissions: [], allowedOrigins: ['*'], expiresAt: null };
  const ancestors = ['gone', 'raised', 'freed', 'unlimited'].map((id, n) => ({
    id,
    rate: n === 3 ? null : rate(n + 1),
  }));
  const stored = new Map([
    ['1', { ...key, id: 'raised', rate: rate(7), ancestors: [] }],
    ['2', { ...key, id: 'freed', rate: null, ancestors: [] }],
    ['3', { ...key, id: 'unlimited', rate: null, ancestors: [] }],
    ['4', { ...key, id: 'child', rate: rate(1), ancestors }],
  ]);
  const directory = new ApiKeyDirectory({ apiKeyHashes: async () => stored });
  await directory.reload();
  t.strictSame(
    directory.withHash('4')?.sharedRates,
    [
      { id: 'unlimited', rate: null },
      { id: 'freed', rate: null },
      { id: 'raised', rate: rate(7) },
      { id: 'gone', rate: rate(1) },
    ],
    'one without a rate of its own has the usual one to share',
  );
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
