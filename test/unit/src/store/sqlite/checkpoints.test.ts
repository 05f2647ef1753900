import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import t, { type Test } from 'tap';
import { createLog } from '../../../../../src/observability/log.ts';
import type { CheckpointAnswer } from '../../../../../src/store/sqlite/checkpointer.ts';
import {
  Checkpoints,
  type StartCheckpointThread,
  startCheckpointThread,
} from '../../../../../src/store/sqlite/checkpoints.ts';

/** The page size is 4 KiB. A checkpoint is due after a thousand pages. */
const PAGE = 4096;

const PATIENCE_MS = 30_000;

/** Waits, turn by turn, until the condition is true. */
async function untilSo(isSo: () => boolean, lookAfter: () => Promise<void> = async () => {}): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (performance.now() < end) {
    await lookAfter();
    if (isSo()) return;
    await nextTurn();
  }
  throw new Error('it did not come to that');
}

/**
 * A database that is written one commit after another. The checkpoints are looked after before and after each commit,
 * as in a store.
 */
function open(t: Test, start: StartCheckpointThread = startCheckpointThread) {
  const path = join(t.testdir(), 'a.db');
  const database = new DatabaseSync(path);
  database.exec('pragma journal_mode = wal; pragma synchronous = off; pragma wal_autocheckpoint = 0');
  database.exec('create table things (bytes blob) strict');
  const lines: { level: number; msg: string; err?: { message: string } }[] = [];
  const log = createLog('debug', { write: (line) => void lines.push(JSON.parse(line)) });
  const threads: Worker[] = [];
  const checkpoints = new Checkpoints(path, log, (file) => {
    const thread = start(file);
    threads.push(thread);
    return thread;
  });
  t.teardown(async () => {
    await checkpoints.close();
    database.close();
  });
  const insert = database.prepare('insert into things values (zeroblob(?))');
  const pages = () => Number(database.prepare('pragma wal_checkpoint(noop)').get()?.['log']);
  return {
    path,
    checkpoints,
    lines,
    threads,
    pages,
    async write(count: number) {
      await checkpoints.settled();
      insert.run(count * PAGE);
      checkpoints.grown(pages);
    },
    /** Runs checkpoints until the log has the wanted number of pages. */
    until: (isAsWanted: (pages: number) => boolean) =>
      untilSo(
        () => isAsWanted(pages()),
        () => checkpoints.settled(),
      ),
    hold() {
      const reader = new DatabaseSync(path, { readOnly: true });
      reader.exec('begin');
      reader.prepare('select count(*) from things').get();
      return reader;
    },
  };
}

/** A thread that gives this answer to each job. */
const answering = (answer: CheckpointAnswer) =>
  new Worker(
    `const { parentPort, workerData } = require('node:worker_threads');
    parentPort.on('message', (order) => order === 'end' ? parentPort.close() : parentPort.postMessage(workerData));`,
    { eval: true, workerData: answer },
  );

t.test('nothing is started before the log is long enough', async (t) => {
  const { write, threads, pages } = open(t);
  for (let commit = 0; commit < 9; commit += 1) await write(100);
  t.ok(pages() > 900);
  t.equal(threads.length, 0);
});

t.test('a log that is long enough begins anew, and then again, by one thread', async (t) => {
  const { write, until, threads, lines } = open(t);
  for (let round = 0; round < 3; round += 1) {
    await write(1001);
    await until((pages) => pages < 10);
  }
  t.equal(threads.length, 1);
  t.strictSame(lines, []);
});

t.test('the log stays short under steady load, with a reader that holds it back now and then', async (t) => {
  const { path, write, hold, lines } = open(t);
  let reader: DatabaseSync | undefined;
  let largest = 0;
  for (let commit = 0; commit < 6000; commit += 1) {
    if (commit % 300 === 100) reader = hold();
    if (commit % 300 === 150) reader?.close();
    // Commits as fast as possible, without flushes between them.
    await write(8);
    largest = Math.max(largest, statSync(`${path}-wal`).size);
  }
  t.ok(largest < 12_000 * PAGE, `48000 pages were written, the log had at most ${Math.round(largest / PAGE)}`);
  t.strictSame(lines, []);
});

t.test('while a reader holds the log back, it is tried now and then and not after each commit', async (t) => {
  const { write, until, hold, pages, lines } = open(t);
  await write(1);
  const reader = hold();
  await write(1001);
  for (let commit = 0; commit < 20; commit += 1) await write(10);
  t.ok(pages() > 1200, 'nothing could begin anew');
  reader.close();
  for (let commit = 0; commit < 9; commit += 1) await write(100);
  await until((now) => now < 1000);
  t.strictSame(lines, []);
});

t.test('a log that a reader makes long is said, once until it was short', async (t) => {
  const { write, until, hold, lines } = open(t);
  for (let round = 0; round < 2; round += 1) {
    await write(1);
    const reader = hold();
    await write(16_000);
    await until(() => lines.length > round);
    for (let commit = 0; commit < 3; commit += 1) {
      await write(1001);
      await until((pages) => pages > 16_000);
    }
    t.match(lines[round], { level: 'warn', msg: /another process reads the database/ });
    t.equal(lines.length, round + 1);
    reader.close();
    await write(1001);
    await until((pages) => pages < 10);
  }
});

t.test('a thread that was killed is replaced when the next checkpoint is due, at rest or at work', async (t) => {
  const silent = () => new Worker("require('node:worker_threads').parentPort.on('message', () => {})", { eval: true });
  const starts: StartCheckpointThread[] = [startCheckpointThread, silent];
  const { write, until, threads, lines } = open(t, (path) => (starts.shift() ?? startCheckpointThread)(path));
  await write(1001);
  await until((pages) => pages < 10);
  await threads[0]?.terminate();
  await write(1001);
  t.equal(threads.length, 2);
  t.strictSame(lines, []);
  await threads[1]?.terminate();
  await untilSo(() => lines.length > 0);
  t.match(lines, [{ msg: /a checkpoint of the database failed/, err: { message: /thread .* ended/ } }]);
  await write(1001);
  await until((pages) => pages < 10);
  t.equal(threads.length, 3);
});

t.test('a thread that cannot start or fails is said, and writing goes on', async (t) => {
  const answers = [
    () => {
      throw new Error('no thread to be had');
    },
    () => new Worker('throw new Error("it cannot open the file")', { eval: true }),
    () => answering({ failure: 'disk full', isForGood: false }),
  ];
  const { write, lines } = open(t, (path) => answers.shift()?.() ?? startCheckpointThread(path));
  for (const said of [/no thread/, /cannot open/, /disk full/]) {
    const before = lines.length;
    await write(1001);
    await untilSo(() => lines.length > before);
    t.match(lines.at(-1), { msg: /its log grows until one succeeds/, err: { message: said } });
  }
});

t.test('a flush that failed is not tried again: the log may be all that is left', async (t) => {
  let asked = 0;
  const { write, checkpoints, lines, pages } = open(t, () => {
    const thread = answering({ failure: 'disk I/O error', isForGood: true });
    const post = thread.postMessage.bind(thread);
    thread.postMessage = (order) => {
      asked += 1;
      post(order);
    };
    return thread;
  });
  t.equal(checkpoints.failure, undefined);
  await write(1001);
  await untilSo(() => checkpoints.failure !== undefined);
  t.match(checkpoints.failure, { message: 'disk I/O error' });
  for (let commit = 0; commit < 5; commit += 1) await write(1001);
  t.equal(asked, 1);
  t.ok(pages() > 6000);
  t.match(lines, [{ level: 'error', msg: /the disk failed/, err: { message: 'disk I/O error' } }]);
  t.equal(lines.length, 1);
});

t.test('a log that cannot be measured is said too', async (t) => {
  const { checkpoints, lines } = open(t);
  checkpoints.grown(() => {
    throw new Error('disk I/O error');
  });
  t.match(lines, [{ err: { message: 'disk I/O error' } }]);
});

t.test('closing lets the job end, leaves no thread, and can be done twice', async (t) => {
  const { write, checkpoints, threads, lines } = open(t);
  await write(1001);
  const [thread] = threads;
  if (thread === undefined) throw new Error('there is no thread');
  const ended = once(thread, 'exit');
  await Promise.all([checkpoints.close(), checkpoints.close()]);
  t.strictSame(await ended, [0], 'in good order');
  await checkpoints.close();
  t.strictSame(lines, []);
});

t.test('closing a thread that is gone, and one that never was, after which nothing begins', async (t) => {
  const { write, checkpoints, threads } = open(t);
  await write(1001);
  await threads[0]?.terminate();
  await checkpoints.close();
  await write(2002);
  t.equal(threads.length, 1);
  const none = new Checkpoints('none.db', createLog('silent'));
  await none.close();
  await none.close();
});

t.test('a process ends although its thread is there', async (t) => {
  const path = join(t.testdir(), 'a.db');
  const database = new DatabaseSync(path);
  database.exec('pragma journal_mode = wal; create table things (bytes blob) strict');
  database.close();
  const entry = new URL('../../../../../src/store/sqlite/checkpoints.ts', import.meta.url).href;
  const program = `
    const { Checkpoints } = await import(${JSON.stringify(entry)});
    const checkpoints = new Checkpoints(${JSON.stringify(path)}, { warn: (said) => console.log(said) });
    checkpoints.grown(() => 1001);
    process.on('exit', () => console.log('ends'));
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.on('data', (data) => {
    said += String(data);
  });
  const late = delay(30_000, 'late', { ref: false });
  const end = await Promise.race([once(child, 'close'), late]);
  child.kill('SIGKILL');
  t.strictSame([end, said], [[0, null], 'ends\n']);
});
