import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, readSync, statSync, truncateSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { systemClock } from '../../src/domain/clock.ts';
import { createLog } from '../../src/observability/log.ts';
import { openPostgresStore } from '../../src/store/postgres/postgres.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite.ts';
import type { Store } from '../../src/store/store.ts';
import { startPostgres } from '../support/postgres.ts';
import { quickStart } from '../support/run-folder.ts';

// Threat: a process or machine dies. Answered writes must survive, and no write may be stored in half.
const WRITER = fileURLToPath(new URL('../support/store-contract/writer-process.ts', import.meta.url));
const log = createLog('silent');

/** Starts a process that writes as fast as it can and prints what was written. Kills it after `count` writes. */
async function writeUntilKilled(url: string, count: number): Promise<string[]> {
  const child: ChildProcess = spawn(process.execPath, [...quickStart(), WRITER, url], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const resolved: string[] = [];
  try {
    if (child.stdout === null) throw new Error('no output');
    for await (const id of createInterface({ input: child.stdout })) {
      resolved.push(id);
      if (resolved.length === count) child.kill('SIGKILL');
    }
  } finally {
    child.kill('SIGKILL');
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return resolved;
}

async function assertNothingLost(t: Test, store: Store, resolved: readonly string[]): Promise<void> {
  const page = await store.read.transactions('relayer-1', { page: 1, perPage: 100_000 });
  const there = new Set(page.items.map(({ id }) => id));
  t.strictSame(
    resolved.filter((id) => !there.has(id)),
    [],
    `all of ${resolved.length} are there`,
  );
  const whole = await Promise.all(page.items.map(async ({ id }) => (await store.read.attempts(id)).length === 1));
  t.ok(whole.every(Boolean), 'no body is there by half');
  t.ok(page.total >= resolved.length);
}

t.test('kill -9 of a process that writes to SQLite, again and again', async (t) => {
  const path = join(t.testdir(), 'isolayer.db');
  const resolved: string[] = [];
  // Once before the first checkpoint, and then among later ones.
  for (const count of [50, 700, 350]) {
    const more = await writeUntilKilled(path, count);
    t.ok(more.length >= count);
    resolved.push(...more);
  }
  const store = await openSqliteStore({ path, log, clock: systemClock });
  await assertNothingLost(t, store, resolved);
  await store.write((writer) => writer.kvSet('plugin', 'alive', 'true'));
  await store.close();
  const database = new DatabaseSync(path);
  t.equal(database.prepare('pragma integrity_check').get()?.['integrity_check'], 'ok');
  database.close();
});

t.test('a torn end of the write-ahead log costs what was never answered, at most', async (t) => {
  const path = join(t.testdir(), 'isolayer.db');
  const resolved = await writeUntilKilled(path, 100);
  // Half a frame at the end, as a power cut leaves during a commit. SQLite detects it by the log's checksums.
  const log_ = `${path}-wal`;
  const { size } = statSync(log_);
  const file = openSync(log_, 'r+');
  const frame = Buffer.alloc(2000);
  readSync(file, frame, 0, frame.length, 32);
  writeSync(file, frame, 0, frame.length, size);
  truncateSync(log_, size + 1500);
  const store = await openSqliteStore({ path, log, clock: systemClock });
  await assertNothingLost(t, store, resolved);
  await store.close();
});

t.test('kill -9 of a process that writes to PostgreSQL, then a crash of the server', async (t) => {
  const postgres = await startPostgres({ durable: true });
  t.teardown(() => postgres.stop());
  const url = await postgres.createDatabase();
  const resolved = await writeUntilKilled(url, 200);
  const store = await openPostgresStore({ url, log });
  t.teardown(() => store.close());
  await assertNothingLost(t, store, resolved);

  await postgres.crash();
  await t.rejects(store.read.allRelayers(), { code: 'UNAVAILABLE' });
  await t.rejects(
    store.write((writer) => writer.kvSet('plugin', 'key', '1')),
    { code: 'UNAVAILABLE' },
  );
  await postgres.restart();
  await assertNothingLost(t, store, resolved);
  await store.write((writer) => writer.kvSet('plugin', 'key', '2'));
  t.equal(await store.read.kvGet('plugin', 'key'), '2', 'the same store goes on');
});
