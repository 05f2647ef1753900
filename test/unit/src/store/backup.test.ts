import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { systemClock } from '../../../../src/domain/clock.ts';
import { createLog } from '../../../../src/observability/log.ts';
import { backupSqlite } from '../../../../src/store/backup.ts';
import { openSqliteStore } from '../../../../src/store/sqlite/sqlite.ts';
import { attemptOf, temporaryStore, transactionOf } from '../../../support/store.ts';

t.test('a backup taken while bodies are written holds whole bodies, and all that had resolved', async (t) => {
  const { store, path, remove } = await temporaryStore();
  t.teardown(remove);
  const insert = () => {
    const transaction = transactionOf();
    return store.write(async (writer) => {
      await writer.insertTransaction(transaction);
      await writer.insertAttempt(attemptOf(transaction));
    });
  };
  await Promise.all(Array.from({ length: 300 }, insert));
  const target = join(t.testdir(), 'backup.db');
  await Promise.all([backupSqlite(path, target, Buffer.alloc(32, 3)), ...Array.from({ length: 300 }, insert)]);

  t.equal(statSync(target).mode & 0o777, 0o600);
  const copy = await openSqliteStore({ path: target, log: createLog('silent'), clock: systemClock });
  t.teardown(() => copy.close());
  const { items, total } = await copy.read.transactions('relayer-1', { page: 1, perPage: 1000 });
  t.ok(total >= 300, `${total} transactions`);
  const attempts = await Promise.all(items.map(({ id }) => copy.read.attempts(id)));
  t.ok(attempts.every(({ length }) => length === 1));
});

t.test('a backup ends however busy the store is, and leaves one file', async (t) => {
  const { store, path, remove } = await temporaryStore();
  t.teardown(remove);
  const large = JSON.stringify('x'.repeat(100_000));
  for (let key = 0; key < 600; key += 1) await store.write((writer) => writer.kvSet('plugin', `key-${key}`, large));
  const dir = t.testdir();
  let hasEnded = false;
  const copying = backupSqlite(path, join(dir, 'backup.db'), Buffer.alloc(32, 3)).finally(() => {
    hasEnded = true;
  });
  const late = performance.now() + 20_000;
  let writes = 0;
  while (!hasEnded && performance.now() < late) {
    await store.write((writer) => writer.kvSet('plugin', 'count', String(writes)));
    writes += 1;
  }
  t.ok(hasEnded, `beside ${writes} commits`);
  await copying;
  t.strictSame(readdirSync(dir), ['backup.db']);
});

t.test('nothing is overwritten, and nothing is left of a failure', async (t) => {
  const dir = t.testdir({ 'there.db': 'precious', 'broken.db': 'no database '.repeat(1000) });
  const { path, remove } = await temporaryStore();
  t.teardown(remove);
  await t.rejects(backupSqlite(path, join(dir, 'there.db'), Buffer.alloc(32, 3)), { code: 'EEXIST' });
  await t.rejects(backupSqlite(join(dir, 'broken.db'), join(dir, 'copy.db'), Buffer.alloc(32, 3)));
  t.equal(existsSync(join(dir, 'copy.db')), false);
  await t.rejects(backupSqlite(join(dir, 'absent.db'), join(dir, 'copy.db'), Buffer.alloc(32, 3)));
});
