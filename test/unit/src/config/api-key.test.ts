import { chmod, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { openApiKey } from '../../../../src/config/api-key.ts';

t.test('the key of the environment is used and nothing is written', async (t) => {
  const dir = t.testdir({});
  t.strictSame(await openApiKey('k'.repeat(32), join(dir, 'data')), { key: 'k'.repeat(32), file: null, isNew: false });
  await t.rejects(stat(join(dir, 'data')), { code: 'ENOENT' });
});

t.test('without one a key is made for its owner only, and found again', async (t) => {
  const dir = join(t.testdir({}), 'new', 'data');
  const made = await openApiKey(undefined, dir);
  t.match(made.key, /^[0-9a-f]{64}$/);
  t.equal(made.file, join(dir, 'api-key'));
  t.equal((await stat(join(dir, 'api-key'))).mode & 0o777, 0o600);
  t.equal(await readFile(join(dir, 'api-key'), 'utf8'), `${made.key}\n`);
  t.equal(made.isNew, true);
  t.strictSame(await openApiKey(undefined, dir), { ...made, isNew: false });
  const other = await openApiKey(undefined, join(dir, 'other'));
  t.not(other.key, made.key);
});

t.test('a file that others may read is closed to them', async (t) => {
  const dir = t.testdir({ 'api-key': 'k'.repeat(40) });
  await chmod(join(dir, 'api-key'), 0o644);
  t.equal((await openApiKey(undefined, dir)).key, 'k'.repeat(40));
  t.equal((await stat(join(dir, 'api-key'))).mode & 0o777, 0o600);
});

t.test('a file with something else stops the start and shows nothing of it', async (t) => {
  for (const content of ['', 'short', `${'k'.repeat(40)} and more`]) {
    const opening = openApiKey(undefined, t.testdir({ 'api-key': content }));
    await t.rejects(opening, { name: 'ConfigurationError', message: /api-key: does not hold a key.*Delete it/ });
    await opening.catch((error: Error) => t.notMatch(error.message, /kkk|short/));
  }
  await t.rejects(openApiKey(undefined, t.testdir({ 'api-key': {} })), /cannot be read or made \(EISDIR\)/);
  await t.rejects(openApiKey(undefined, join(t.testdir({ file: 'x' }), 'file')), /cannot be read or made \(ENOTDIR\)/);
});
