import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, readSync, statSync, truncateSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import t, { type Test } from 'tap';
import { systemClock } from '../../src/domain/clock.ts';
import { createLog } from '../../src/observability/log.ts';
import { openPostgresStore } from '../../src/store/postgres/postgres.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite.ts';
import type { Store } from '../../src/store/store.ts';
import { startPostgres } from '../support/postgres.ts';
import { quickStart } from '../support/run-folder.ts';
import { attemptOf, transactionOf } from '../support/store.ts';

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

t.test('a database that is set to forget its last commits keeps what was answered', async (t) => {
  // The server flushes its log each 10 s at most, so a kill before that shows every commit that was not waited for.
  const lazy = { synchronous_commit: 'off', wal_writer_delay: '10s', autovacuum: 'off' };
  const postgres = await startPostgres({ durable: true, settings: lazy });
  t.teardown(() => postgres.stop());
  const url = await postgres.createDatabase();
  const lines: string[] = [];
  const store = await openPostgresStore({ url, log: createLog('warn', { write: (line) => void lines.push(line) }) });
  t.teardown(() => store.close());
  const resolved: string[] = [];
  for (let turn = 0; turn < 20; turn += 1) {
    const transaction = transactionOf();
    await store.write(async (writer) => {
      await writer.insertTransaction(transaction);
      await writer.insertAttempt(attemptOf(transaction));
    });
    resolved.push(transaction.id);
  }
  await postgres.kill();
  await postgres.restart();
  await t.resolves(store.now().catch(() => store.now()));
  await assertNothingLost(t, store, resolved);
  const told = lines.filter((line) => line.includes('synchronous_commit is off'));
  t.equal(told.length, 1, 'and says once that it overrides the setting');
});

t.test('wherever synchronous_commit is set, each write is durable and costs no further round trip', async (t) => {
  const postgres = await startPostgres();
  t.teardown(() => postgres.stop());
  const places: { [where: string]: (database: string) => string | null } = {
    'of the database': (database) => `alter database ${database} set synchronous_commit = local`,
    'of the role': () => `alter role postgres set synchronous_commit = off`,
    'of the URL': () => null,
  };
  for (const [where, statement] of Object.entries(places)) {
    const url = await postgres.createDatabase();
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const set = statement(/t_\w+/.exec(url)?.[0] ?? '');
    if (set !== null) await client.query(set);
    const inUrl = set === null ? '&options=-c%20synchronous_commit%3Doff' : '';
    const store = await openPostgresStore({ url: url + inUrl, log });
    // What a write runs under, as the database itself notes it.
    await client.query(
      `create function note() returns trigger language plpgsql as $$ begin
         insert into noted values (current_setting('synchronous_commit')); return new; end $$`,
    );
    await client.query('create table noted (value text)');
    await client.query('create trigger note after insert on transactions for each row execute function note()');
    await store.write((writer) => writer.insertTransaction(transactionOf()));
    t.strictSame((await client.query('select value from noted')).rows, [{ value: 'on' }], where);
    await store.close();
    await client.query('alter role postgres reset all');
    await client.end();
  }
});

t.test('what else can lose a commit is said at the start and in warnings', async (t) => {
  const stern = { synchronous_commit: 'remote_apply', full_page_writes: 'off' };
  const postgres = await startPostgres({ settings: stern });
  t.teardown(() => postgres.stop());
  const url = await postgres.createDatabase();
  const lines: string[] = [];
  const store = await openPostgresStore({ url, log: createLog('warn', { write: (line) => void lines.push(line) }) });
  t.teardown(() => store.close());
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  t.teardown(() => client.end());
  const said = lines.map((line) => String(JSON.parse(line).warning).split(':')[0]);
  t.strictSame(said, ['fsync is off', 'full_page_writes is off'], 'a durable setting is the operator’s own');
  await client.query('alter table audit_records set unlogged');
  t.match(await store.warnings(), [/^fsync/, /^full_page/, /unlogged.*: audit_records$/]);
  await client.query('alter table audit_records set logged');

  // A standby, as far as the server can tell.
  const standby = new pg.Client(Object.assign({ connectionString: url }, { replication: 'true' }));
  await standby.connect();
  t.teardown(() => standby.end());
  t.match((await store.warnings()).slice(2), [/^The standby is asynchronous/], 'as soon as there is one');
  await client.query(`alter system set synchronous_standby_names = '*'`);
  await client.query('select pg_reload_conf()');
  while ((await client.query('show synchronous_standby_names')).rows[0]?.synchronous_standby_names === '')
    await delay(20);
  t.equal((await store.warnings()).length, 2);
});
