import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { lockDataDir } from '../../../../../src/store/sqlite/lock.ts';

// The threat: two services on one folder would sign the same sequence twice.
const LOCK = new URL('../../../../../src/store/sqlite/lock.ts', import.meta.url).href;

/** Starts a process that locks the folder, reports the result, and keeps running. */
async function otherProcess(dataDir: string) {
  const child = spawn(
    process.execPath,
    [
      '--input-type=module',
      '-e',
      `const { lockDataDir } = await import(${JSON.stringify(LOCK)});
       try { lockDataDir(process.argv[1]); console.log('locked'); setInterval(() => {}, 1000); }
       catch (error) { console.log(error.message); }`,
      dataDir,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const [said] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
  return { child, said: said.trim() };
}

t.test('one process has a folder; kill -9 frees it', async (t) => {
  const dataDir = join(t.testdir(), 'deep', 'data');
  const { child, said } = await otherProcess(dataDir);
  t.teardown(() => child.kill('SIGKILL'));
  t.equal(said, 'locked');
  t.throws(() => lockDataDir(dataDir), {
    message: `The data folder ${dataDir} is in use by another Isolayer. Stop that one, or give this one a folder of its own with DATA_DIR.`,
  });
  child.kill('SIGKILL');
  await once(child, 'exit');

  const lock = lockDataDir(dataDir);
  const second = await otherProcess(dataDir);
  t.teardown(() => second.child.kill('SIGKILL'));
  t.match(second.said, 'is in use by another Isolayer');
  lock.release();
  lock.release();
  lockDataDir(dataDir).release();
});

t.test('the same process does not get it twice', async (t) => {
  const dataDir = t.testdir();
  const lock = lockDataDir(dataDir);
  t.throws(() => lockDataDir(dataDir), /is in use/);
  lock.release();
  lockDataDir(dataDir).release();
});

t.test('a folder that is made is for its owner only', async (t) => {
  const dataDir = join(t.testdir(), 'data');
  lockDataDir(dataDir).release();
  t.equal(statSync(dataDir).mode & 0o777, 0o700);
});

t.test('the lock is for its owner only: who can read the file could hold a lock on it', async (t) => {
  const dataDir = t.testdir({ 'lock.db': '' });
  chmodSync(join(dataDir, 'lock.db'), 0o644);
  for (const folder of [dataDir, join(dataDir, 'new')]) {
    lockDataDir(folder).release();
    t.equal(statSync(join(folder, 'lock.db')).mode & 0o777, 0o600);
  }
});

/** Runs as a user who is not root, because root may write everywhere. */
function asSomebody<T>(run: () => T): T {
  if (process.geteuid?.() !== 0) return run();
  process.seteuid?.(65_534);
  try {
    return run();
  } finally {
    process.seteuid?.(0);
  }
}

t.test('a folder that cannot be written is named, with the user and the cause', async (t) => {
  const closed = join(t.testdir(), 'closed');
  mkdirSync(closed, { mode: 0o555 });
  chmodSync(t.testdirName, 0o755);
  const words =
    /^DATA_DIR \(\/.*closed.*\) cannot be written by user \d+, who runs the service: E[A-Z]+: .*\. Give the/;
  for (const folder of [closed, join(closed, 'within')]) {
    t.throws(() => asSomebody(() => lockDataDir(folder)), { message: words }, folder);
  }
  writeFileSync(join(t.testdirName, 'file'), '');
  t.throws(() => lockDataDir(join(t.testdirName, 'file', 'closed')), { message: /^DATA_DIR .*ENOTDIR/ });
});

t.test('a lock file that is none is not "in use"', async (t) => {
  const dataDir = t.testdir();
  writeFileSync(join(dataDir, 'lock.db'), 'no database at all'.repeat(100));
  t.throws(() => lockDataDir(dataDir), { message: /cannot be locked/ });
});
