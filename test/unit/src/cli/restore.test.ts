import { mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { backupSqlite } from '../../../../src/store/backup.ts';
import { lockDataDir } from '../../../../src/store/lock.ts';
import { runTyped } from '../../../support/command.ts';
import { temporaryStore, transactionOf } from '../../../support/store.ts';

async function backupIn(t: Test, status: 'pending' | 'confirmed') {
  const { store, path, remove } = await temporaryStore();
  t.teardown(remove);
  await store.write((writer) => writer.insertTransaction(transactionOf({ status })));
  await backupSqlite(path, join(dirname(path), 'backup.db'));
  const cwd = dirname(path);
  mkdirSync(join(cwd, 'data'));
  return { cwd, data: () => readdirSync(join(cwd, 'data')).filter((name) => !name.startsWith('lock.db')) };
}

t.test('into an empty folder, then again only with --replace, which keeps what was there', async (t) => {
  const { cwd, data } = await backupIn(t, 'confirmed');
  t.match(await runTyped(cwd, ['restore', 'backup.db']), { code: 0, said: /Restored into .*data/ });
  t.strictSame(data(), ['isolayer.db']);
  t.match(await runTyped(cwd, ['restore', 'backup.db']), { code: 1, complained: /--replace/ });
  const { code, said } = await runTyped(cwd, ['restore', 'backup.db', '--replace']);
  t.equal(code, 0);
  t.match(said, 'isolayer.db.replaced-1970-01-01T00-00-00-000Z');
  t.strictSame(data(), ['isolayer.db', 'isolayer.db.replaced-1970-01-01T00-00-00-000Z']);
});

t.test('never beside a server', async (t) => {
  const { cwd, data } = await backupIn(t, 'confirmed');
  const lock = lockDataDir(join(cwd, 'data'));
  t.teardown(() => lock.release());
  t.match(await runTyped(cwd, ['restore', 'backup.db']), { code: 1, complained: /in use by another Isolayer/ });
  t.strictSame(data(), []);
});

t.test('unsigned transactions make it ask what happened since', async (t) => {
  const { cwd, data } = await backupIn(t, 'pending');
  const { code, complained } = await runTyped(cwd, ['restore', 'backup.db']);
  t.equal(code, 1);
  t.match(complained, /holds 1 transactions/);
  t.match(complained, /--send-unsigned .*\n.*--fail-unsigned/);
  t.strictSame(data(), []);
  t.match(await runTyped(cwd, ['restore', 'backup.db', '--send-unsigned', '--fail-unsigned']), { code: 1 });
  t.match(await runTyped(cwd, ['restore', 'backup.db', '--fail-unsigned']), { code: 0 });
});

t.test('no file, or PostgreSQL', async (t) => {
  const cwd = t.testdir({});
  t.match(await runTyped(cwd, ['restore', 'nothing.db']), { code: 1, complained: /There is no file/ });
  const env = { DATABASE_URL: 'postgres://localhost/x', STORAGE_ENCRYPTION_KEY: Buffer.alloc(32).toString('base64') };
  t.match(await runTyped(cwd, ['restore', 'x'], env), { code: 1, complained: /pg_restore/ });
});
