import { once } from 'node:events';
import { readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import t, { type Test } from 'tap';
import { StoreUnavailable } from '../../../../../src/domain/errors.ts';
import { createLog } from '../../../../../src/observability/log.ts';
import { Checkpoints, type StartCheckpointThread } from '../../../../../src/store/sqlite/checkpoints.ts';
import { DurableCommits, openWalFile } from '../../../../../src/store/sqlite/durable-commits.ts';
import { HeldWal } from '../../../../support/held-wal.ts';

/** Commits to a table of numbers in a real file. The test holds the flushes of the log. */
function open(t: Test, start?: StartCheckpointThread) {
  const path = join(t.testdir(), 'a.db');
  const writing = new DatabaseSync(path);
  writing.exec('pragma journal_mode = wal; create table things (id integer primary key) strict');
  const wal = new HeldWal(path);
  const reading = new DatabaseSync(path, { readOnly: true });
  const lines: { level: number; msg: string }[] = [];
  const log = createLog('debug', { write: (line) => void lines.push(JSON.parse(line)) });
  const commits = new DurableCommits({ writing, reading, wal, checkpoints: new Checkpoints(path, log, start), log });
  t.teardown(async () => {
    await commits.close();
    reading.close();
    writing.close();
  });
  const ids = (database: DatabaseSync) =>
    database
      .prepare('select id from things order by id')
      .all()
      .map(({ id }) => id);
  return {
    writing,
    reading,
    wal,
    commits,
    lines,
    /** Commits and flushes. */
    async kept() {
      commits.commit();
      await commits.flush();
    },
    insert: (id: number) => writing.prepare('insert into things values (?)').run(id),
    seen: () => ids(reading),
    written: () => ids(writing),
  };
}

t.test('what is committed is read when it is on disk, and not before', async (t) => {
  const { writing, wal, commits, kept, insert, seen, written } = open(t);
  wal.hold();
  commits.begin();
  insert(1);
  let isDone = false;
  const commit = kept().then(() => {
    isDone = true;
  });
  await wal.asked();
  t.equal(writing.isTransaction, false, 'SQLite has committed it');
  t.strictSame([isDone, written(), seen()], [false, [1], []]);
  wal.pass();
  await commit;
  t.strictSame(seen(), [1]);
  commits.begin();
  insert(2);
  const second = kept();
  await wal.asked();
  t.strictSame(seen(), [1], 'readers stay at what is on disk');
  wal.release();
  await second;
  t.strictSame(seen(), [1, 2]);
});

t.test('the main loop flushes nothing by itself', async (t) => {
  const { writing } = open(t);
  const setting = (name: string) => Object.values(writing.prepare(`pragma ${name}`).get() ?? {})[0];
  t.equal(setting('synchronous'), 1, 'normal');
  t.equal(setting('wal_autocheckpoint'), 0);
});

t.test('a group that changed nothing asks for no flush', async (t) => {
  const { wal, commits, kept, reading, insert, written } = open(t);
  wal.hold();
  commits.begin();
  await kept();
  t.equal(wal.flushes, 0);
  wal.release();
  commits.begin();
  insert(1);
  await kept();
  t.equal(wal.flushes, 1);
  t.equal(reading.isTransaction, false);
  t.strictSame(written(), [1]);
});

t.test('after a flush that failed nothing is written, and readers stay where they are', async (t) => {
  const { wal, commits, kept, lines, insert, seen } = open(t);
  commits.begin();
  insert(1);
  await kept();
  commits.assertIntact();
  wal.hold();
  commits.begin();
  insert(2);
  const commit = kept();
  await wal.asked();
  const cause = new Error('EIO');
  wal.fail(cause);
  const told = { code: 'UNAVAILABLE', message: /whether it is kept shows after a restart/, cause };
  await t.rejects(commit, told);
  await t.rejects(commit, StoreUnavailable);
  commits.undo();
  await commits.ready();
  wal.release();
  for (let again = 0; again < 3; again += 1) {
    t.throws(() => commits.begin(), { code: 'UNAVAILABLE', message: /nothing is written until .* restarted/ });
  }
  t.throws(() => commits.assertIntact(), { cause });
  t.throws(() => commits.assertIntact(), StoreUnavailable);
  t.strictSame(seen(), [1]);
  t.strictSame(
    lines.map(({ level, msg }) => [level, msg]),
    [['error', 'the disk failed while the database was written; restart when it is well']],
    'said once',
  );
});

t.test('what is written during a flush is read after its own flush, and not after one that failed', async (t) => {
  const { wal, commits, insert, seen, written } = open(t);
  wal.hold();
  commits.begin();
  insert(1);
  commits.commit();
  const first = commits.flush();
  await wal.asked();
  commits.begin();
  insert(2);
  t.strictSame(seen(), []);
  wal.pass();
  await first;
  t.strictSame(seen(), [1]);
  commits.commit();
  const second = commits.flush();
  await wal.asked();
  t.strictSame([seen(), commits.version], [[1], 1]);
  commits.begin();
  insert(3);
  wal.fail(new Error('EIO'));
  await t.rejects(second, { code: 'UNAVAILABLE' });
  t.throws(() => commits.commit(), { code: 'UNAVAILABLE', cause: { message: 'EIO' } });
  commits.undo();
  t.strictSame([seen(), written()], [[1], [1, 2]]);
});

t.test('after a checkpoint whose flush failed nothing is written, and what was is kept', async (t) => {
  const program = `
    const { parentPort } = require('node:worker_threads');
    parentPort.on('message', (order) => order === 'end' ? parentPort.close()
      : parentPort.postMessage({ failure: 'disk I/O error', isForGood: true }));`;
  const threads: Worker[] = [];
  const { writing, commits, kept, seen } = open(t, () => {
    const thread = new Worker(program, { eval: true });
    threads.push(thread);
    return thread;
  });
  writing.exec('create table bytes (bytes blob) strict');
  commits.begin();
  writing.exec('insert into things values (1); insert into bytes values (zeroblob(5000000))');
  await kept();
  t.equal(commits.isIntact, true);
  const [thread] = threads;
  if (thread === undefined) throw new Error('no checkpoint was begun');
  await once(thread, 'message');
  await nextTurn();
  t.equal(commits.isIntact, false);
  t.throws(() => commits.begin(), { code: 'UNAVAILABLE', cause: { message: 'disk I/O error' } });
  await commits.ready();
  t.strictSame(seen(), [1]);
});

t.test('a commit that SQLite refuses is undone, and holds no reader', async (t) => {
  const { writing, reading, commits, kept, insert, wal, seen } = open(t);
  writing.exec(`
    pragma foreign_keys = on;
    create table parts (thing integer references things (id) deferrable initially deferred) strict`);
  commits.begin();
  insert(1);
  writing.exec('insert into parts values (99)');
  await t.rejects(kept(), /FOREIGN KEY/);
  t.equal(reading.isTransaction, false);
  commits.undo();
  t.equal(wal.flushes, 0);
  commits.begin();
  insert(2);
  await kept();
  t.strictSame(seen(), [2]);
});

t.test('a reader that cannot be held stops the commit', async (t) => {
  const { writing, reading, commits, kept, insert, written } = open(t);
  reading.exec('begin');
  commits.begin();
  insert(1);
  await t.rejects(kept(), /transaction within a transaction/);
  t.equal(writing.isTransaction, true);
  commits.undo();
  reading.exec('commit');
  t.strictSame(written(), []);
});

t.test('undo without a transaction does nothing, also when it is closed', async (t) => {
  const { writing, reading, commits, written } = open(t);
  commits.undo();
  t.strictSame(written(), []);
  await commits.close();
  await commits.close();
  reading.close();
  writing.close();
  commits.undo();
  reading.open();
  writing.open();
});

t.test('wal file', async (t) => {
  /** The number of open descriptors of this process for this file. */
  function descriptorsOf(path: string): number {
    const targets = readdirSync('/proc/self/fd').map((name) => {
      try {
        return readlinkSync(`/proc/self/fd/${name}`);
      } catch {
        // The descriptor that listed the folder is closed by now.
        return '';
      }
    });
    return targets.filter((target) => target === path).length;
  }

  t.test('a log can be flushed until it is closed', async (t) => {
    const path = join(t.testdir(), 'a.db');
    writeFileSync(`${path}-wal`, 'log');
    const wal = openWalFile(path);
    t.equal(descriptorsOf(`${path}-wal`), 1);
    await wal.flush();
    writeFileSync(`${path}-wal`, 'longer log');
    await Promise.all([wal.flush(), wal.flush()]);
    wal.close();
    t.equal(descriptorsOf(`${path}-wal`), 0);
    wal.close();
    await t.rejects(wal.flush(), /closed/, 'a flush that did not happen is none that succeeded');
  });

  t.test('a database without a log is none that can be flushed', async (t) => {
    t.throws(() => openWalFile(join(t.testdir(), 'none.db')), { code: 'ENOENT' });
  });
});
