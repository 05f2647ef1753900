import { statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t, { type Test } from 'tap';
import { Checkpointer, checkpointFailure } from '../../../../../src/store/sqlite/checkpointer.ts';

const MIB = 1024 * 1024;

/** A database without automatic checkpoints, so only the checkpointer shortens its log. */
function open(t: Test) {
  const path = join(t.testdir(), 'a.db');
  const database = new DatabaseSync(path);
  database.exec('pragma journal_mode = wal; pragma synchronous = off; pragma wal_autocheckpoint = 0');
  database.exec('create table things (bytes blob) strict');
  const checkpointer = new Checkpointer(path);
  t.teardown(() => {
    checkpointer.close();
    database.close();
  });
  return {
    path,
    database,
    checkpointer,
    write: (bytes: number) => database.prepare('insert into things values (zeroblob(?))').run(bytes),
    pages: () => Number(database.prepare('pragma wal_checkpoint(noop)').get()?.['log']),
    /** A reader that stays at its snapshot. */
    hold() {
      const reader = new DatabaseSync(path, { readOnly: true });
      t.teardown(() => {
        if (reader.isOpen) reader.close();
      });
      reader.exec('begin');
      reader.prepare('select count(*) from things').get();
      return reader;
    },
  };
}

t.test('what is copied lies in the database, and the log begins anew', async (t) => {
  const { path, checkpointer, write, pages } = open(t);
  write(MIB);
  const before = pages();
  t.ok(before > 250, `${before} pages`);
  t.equal(checkpointer.run('copy'), before, 'the log goes on for now');
  t.ok(statSync(path).size > MIB, 'but the database has it');
  t.equal(checkpointer.run('finish'), 1);
  t.equal(pages(), 1);
  write(1);
  t.ok(pages() < 10, `it went on from the start: ${pages()}`);
});

t.test('a reader holds back what it still needs, and nobody waits for it', async (t) => {
  const { checkpointer, write, pages, hold } = open(t);
  write(1);
  const reader = hold();
  write(MIB);
  const before = pages();
  t.equal(checkpointer.run('copy'), before);
  t.equal(checkpointer.run('finish'), before, 'nothing was begun anew');
  t.equal(reader.prepare('select count(*) as n from things').get()?.['n'], 1, 'it sees what it saw');
  reader.close();
  t.equal(checkpointer.run('finish'), 1);
});

t.test('a log that a reader made long becomes short again', async (t) => {
  const { path, checkpointer, write, hold } = open(t);
  write(1);
  const reader = hold();
  write(20 * MIB);
  checkpointer.run('finish');
  t.ok(statSync(`${path}-wal`).size > 20 * MIB);
  reader.close();
  checkpointer.run('finish');
  t.ok(statSync(`${path}-wal`).size <= 16 * MIB, `${statSync(`${path}-wal`).size} bytes`);
});

t.test('an empty log needs nothing, and a database that is written by another is not waited for', async (t) => {
  const { database, checkpointer, write, pages } = open(t);
  checkpointer.run('finish');
  t.equal(checkpointer.run('finish'), 1, 'its own write is copied like any');
  write(MIB);
  database.exec('begin immediate');
  t.throws(() => checkpointer.run('finish'), /locked/);
  database.exec('rollback');
  t.ok(pages() > 250);
  t.equal(checkpointer.run('finish'), 1);
});

t.test('the number that an application may keep in the file stays what it is', async (t) => {
  const { database, checkpointer, write } = open(t);
  database.exec('pragma user_version = 4711');
  write(MIB);
  checkpointer.run('finish');
  t.equal(database.prepare('pragma user_version').get()?.['user_version'], 4711);
  checkpointer.close();
  checkpointer.close();
  t.throws(() => checkpointer.run('copy'), /not open/);
});

t.test('a flush that failed is for good, and nothing else is', (t) => {
  const ofSqlite = (errcode: number, message: string) => Object.assign(new Error(message), { errcode });
  t.strictSame(checkpointFailure(ofSqlite(1034, 'disk I/O error')), { failure: 'disk I/O error', isForGood: true });
  for (const errcode of [5, 10, 13, 266, 778]) {
    t.strictSame(checkpointFailure(ofSqlite(errcode, 'no')), { failure: 'no', isForGood: false });
  }
  t.strictSame(checkpointFailure(new Error('1034')), { failure: '1034', isForGood: false });
  t.strictSame(checkpointFailure('odd'), { failure: 'odd', isForGood: false });
  t.end();
});
