import { existsSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import t from 'tap';
import { checkBackup } from '../../../../src/store/backup.ts';
import { runTyped } from '../../../support/command.ts';
import { temporaryStore } from '../../../support/store.ts';

t.test('copies the database of DATA_DIR while it is open, and says what else to keep', async (t) => {
  const { path, remove } = await temporaryStore();
  t.teardown(remove);
  const cwd = dirname(dirname(path));
  const env = { DATA_DIR: basename(dirname(path)) };
  const file = join(dirname(path), 'copy.db');
  t.match(await runTyped(cwd, ['backup', file], env), { code: 1, complained: /There is no storage key/ });
  const key = Buffer.alloc(32, 5);
  writeFileSync(join(dirname(path), 'storage-key'), key.toString('base64'), { mode: 0o600 });
  const { code, said } = await runTyped(cwd, ['backup', file], env);
  t.equal(code, 0);
  t.ok(existsSync(file));
  t.equal(await checkBackup(file, [Buffer.alloc(32), key]), 'authentic');
  t.match(said, file);
  t.match(said, join(dirname(path), 'storage-key'));
  const again = await runTyped(cwd, ['backup', file], env);
  t.equal(again.code, 1);
  t.match(again.complained, /exists; a backup never overwrites/);
});

t.test('without a database, or with PostgreSQL, it says so', async (t) => {
  const cwd = t.testdir({});
  t.match(await runTyped(cwd, ['backup', 'a.db']), { code: 1, complained: /There is no database in .*data$/ });
  const env = { DATABASE_URL: 'postgres://localhost/x', STORAGE_ENCRYPTION_KEY: Buffer.alloc(32).toString('base64') };
  t.match(await runTyped(cwd, ['backup', 'a.db'], env), { code: 1, complained: /pg_dump/ });
  t.notOk(existsSync(join(cwd, 'data')));
});
