import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t, { type Test } from 'tap';
import { systemClock } from '../../../../src/domain/clock.ts';
import { createLog } from '../../../../src/observability/log.ts';
import { backupSqlite } from '../../../../src/store/backup.ts';
import { restoreSqlite } from '../../../../src/store/restore.ts';
import { openSqliteStore } from '../../../../src/store/sqlite/sqlite.ts';
import type { Store } from '../../../../src/store/store.ts';
import { relayerOf, temporaryStore, transactionOf } from '../../../support/store.ts';

/** A store with one transaction of each of the given ids, and a backup of it. */
async function backedUp(t: Test, transactions: Parameters<typeof transactionOf>[0][]) {
  const { store, path, remove } = await temporaryStore();
  t.teardown(remove);
  await store.write(async (writer) => {
    await writer.putRelayer(relayerOf());
    for (const given of transactions) await writer.insertTransaction(transactionOf(given));
  });
  const source = join(dirname(path), 'backup.db');
  await backupSqlite(path, source, Buffer.alloc(32, 3));
  return { store, path, source, target: join(dirname(path), 'restored.db') };
}

const asItIs = async () => undefined;

async function open(t: Test, path: string): Promise<Store> {
  const store = await openSqliteStore({ path, log: createLog('silent'), clock: systemClock });
  t.teardown(() => store.close());
  return store;
}

t.test('a backup becomes the database, for its owner alone, and nothing else is left', async (t) => {
  const { source, target } = await backedUp(t, [{ id: 'a', status: 'confirmed' }]);
  await restoreSqlite({ source, target, settle: asItIs });
  t.equal(statSync(target).mode & 0o777, 0o600);
  t.strictSame(
    readdirSync(dirname(target)).filter((name) => name.startsWith('restored')),
    ['restored.db'],
  );
  t.match(await (await open(t, target)).read.transaction('relayer-1', 'a'), { status: 'confirmed' });
});

t.test('what is there stays unless it is kept under another name', async (t) => {
  const { store, path, source } = await backedUp(t, [{ id: 'a', status: 'confirmed' }]);
  await store.write((writer) => writer.insertTransaction(transactionOf({ id: 'later', status: 'confirmed' })));
  await store.close();
  await t.rejects(restoreSqlite({ source, target: path, settle: asItIs }), /exists/);
  const keepAs = `${path}.old`;
  await restoreSqlite({ source, target: path, keepAs, settle: asItIs });
  t.equal(await (await open(t, path)).read.transaction('relayer-1', 'later'), undefined);
  t.ok(await (await open(t, keepAs)).read.transaction('relayer-1', 'later'), 'with all that was only in its log');
});

t.test('a damaged database is kept as it is', async (t) => {
  const { source, target } = await backedUp(t, []);
  writeFileSync(target, 'no database at all');
  writeFileSync(`${target}-wal`, 'no log at all');
  await restoreSqlite({ source, target, keepAs: `${target}.old`, settle: asItIs });
  t.strictSame(
    readdirSync(dirname(target)).filter((name) => /^restored.*(?<!-shm)$/.test(name)),
    ['restored.db', 'restored.db.old', 'restored.db.old-wal'],
  );
});

t.test('a database that another process reads is not replaced: that one would go on with its log', async (t) => {
  const { store, path, source } = await backedUp(t, [{ id: 'a', status: 'confirmed' }]);
  // To SQLite, the locks of a second connection in this process are the same as those of another process.
  const other = new DatabaseSync(path, { readOnly: true });
  t.teardown(() => {
    if (other.isOpen) other.close();
  });
  const keepAs = `${path}.old`;
  for (const isReading of [true, false]) {
    other.exec(isReading ? 'begin' : 'commit');
    other.prepare('select count(*) from transactions').get();
    if (isReading) {
      await store.write((writer) => writer.insertTransaction(transactionOf({ id: 'later', status: 'confirmed' })));
      await store.close();
    }
    await t.rejects(restoreSqlite({ source, target: path, keepAs, settle: asItIs }), {
      message: /Another process has .* open/,
    });
    t.notOk(existsSync(keepAs));
    t.notOk(existsSync(`${path}.restoring`));
  }
  other.close();
  await restoreSqlite({ source, target: path, keepAs, settle: asItIs });
  t.equal(await (await open(t, path)).read.transaction('relayer-1', 'later'), undefined);
  t.ok(await (await open(t, keepAs)).read.transaction('relayer-1', 'later'), 'nothing was lost meanwhile');
});

t.test('a log without its database is not given to another', async (t) => {
  const { source, target } = await backedUp(t, []);
  writeFileSync(`${target}-wal`, 'a log');
  await t.rejects(restoreSqlite({ source, target, settle: asItIs }), {
    message: /log of a database that is not there/,
  });
  t.notOk(existsSync(target));
  t.ok(existsSync(`${target}-wal`));
});

t.test('the copy is made ready before it takes the place; when that fails there is none', async (t) => {
  const { source, target } = await backedUp(t, []);
  const settle = async (draft: string) => {
    t.notOk(existsSync(target));
    const store = await openSqliteStore({ path: draft, log: createLog('silent'), clock: systemClock });
    await store.write((writer) => writer.insertTransaction(transactionOf({ id: 'made ready', status: 'confirmed' })));
    await store.close();
    return 'made ready';
  };
  const refuse = async (draft: string) => {
    await settle(draft);
    throw new Error('asked first');
  };
  await t.rejects(restoreSqlite({ source, target, settle: refuse }), /asked first/);
  t.strictSame(
    readdirSync(dirname(target)).filter((name) => name.startsWith('restored')),
    [],
  );
  t.equal(await restoreSqlite({ source, target, settle }), 'made ready');
  t.ok(await (await open(t, target)).read.transaction('relayer-1', 'made ready'));
});

t.test('what is no backup of ours, or of a newer version, or broken, changes nothing', async (t) => {
  const { source, target } = await backedUp(t, []);
  const attempts: [string, RegExp][] = [];
  const bad = (name: string, message: RegExp) => {
    const path = join(dirname(target), name);
    attempts.push([path, message]);
    return path;
  };
  writeFileSync(bad('text.db', /no database that can be read|not a database/), 'x'.repeat(5000));
  new DatabaseSync(bad('empty.db', /no backup of Isolayer/)).exec('create table other (x)');
  const newer = bad('newer.db', /newer version/);
  await backupSqlite(source, newer, Buffer.alloc(32, 3));
  new DatabaseSync(newer).exec(`insert into migrations (version, name, applied_at) values (999, 'tomorrow', 0)`);
  bad('absent.db', /unable to open/);
  for (const [path, message] of attempts) {
    await t.rejects(restoreSqlite({ source: path, target, settle: asItIs }), message, path);
    t.notOk(existsSync(target));
    t.notOk(existsSync(`${target}.restoring`));
  }
});
