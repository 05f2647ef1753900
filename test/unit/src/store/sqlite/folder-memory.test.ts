import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openFolderMemory } from '../../../../../src/store/sqlite/folder-memory.ts';

t.test('a folder knows what was kept in it, under the id that it had from the beginning', async (t) => {
  const dir = t.testdir({});
  const memory = openFolderMemory(dir);
  t.equal(memory.known, undefined);
  t.not(memory.folder, openFolderMemory(t.testdir({})).folder);
  await memory.keep({ folder: memory.folder, epoch: 'e', count: 1 });
  await memory.keep({ folder: memory.folder, epoch: 'e', count: 2 });
  const again = openFolderMemory(dir);
  t.equal(again.folder, memory.folder);
  t.strictSame(again.known, { folder: memory.folder, epoch: 'e', count: 2 });
  t.equal(statSync(join(dir, 'database-mark.json')).mode & 0o777, 0o600);
});

t.test('a damaged file stops the start and says what to do', async (t) => {
  for (const text of ['', '{"folder":"f","epoch":"e"}', 'x']) {
    const dir = t.testdir({});
    writeFileSync(join(dir, 'database-mark.json'), text);
    t.throws(() => openFolderMemory(dir), { message: /database-mark\.json, .* is damaged\. .*delete it/ });
  }
  const dir = t.testdir({ 'database-mark.json': {} });
  t.throws(() => openFolderMemory(dir), { message: /cannot be read/ });
});
