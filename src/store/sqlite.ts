import { closeSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { type CompiledQuery, Kysely, type RawBuilder, sql } from 'kysely';
import type { Clock } from '../domain/clock.ts';
import type { Log } from '../observability/log.ts';
import { BodyGuard, type QueryPlace } from './body-guard.ts';
import { sqliteColumns } from './column-types.ts';
import type { Connection } from './connection.ts';
import { noHints } from './hints.ts';
import { migrate } from './migrate.ts';
import { migrations } from './migrations.ts';
import { resealSigningKeys } from './notifications.ts';
import { ProcessLeases } from './process-leases.ts';
import { createReader, createWriter } from './queries.ts';
import { resealRpcUrls } from './relayers.ts';
import type { Tables } from './schema.ts';
import { checkSeal, type Sealer } from './sealing.ts';
import { SqliteStatements, sqliteDialect } from './sqlite-dialect.ts';
import type { Store, Writer } from './store.ts';
import { WriterQueue } from './writer-queue.ts';

/** How long a statement waits for another process, such as a backup; the event loop waits with it. */
const BUSY_MS = 1000;

export interface SqliteStoreOptions {
  /** The database file; made when it is not there. The folder is, and its lock (`lock.ts`) is held. */
  path: string;
  log: Log;
  clock: Clock;
  /** Checked against the key that the database was sealed with; absent when nothing is ever sealed. */
  sealer?: Sealer;
}

/**
 * Opens the embedded store: one connection writes, one reads, so that a read never waits for a write.
 * @throws when the file is no database, is damaged, is of a newer version, or was sealed with another key
 */
export async function openSqliteStore({ path, log, clock, sealer }: SqliteStoreOptions): Promise<Store> {
  // SQLite gives its side files the same mode.
  closeSync(openSync(path, 'a', 0o600));
  const writing = openForWriting(path);
  try {
    const whole = new Kysely<Tables>({ dialect: sqliteDialect(writing) });
    await migrate({ db: whole, types: sqliteColumns, log, now: clock.now }, migrations);
    if (sealer !== undefined) {
      await checkSeal(whole, sealer);
      await resealSigningKeys(whole, sealer);
      await resealRpcUrls(whole, sealer);
    }
    return compose(writing, openForReading(path), clock, sealer);
  } catch (cause) {
    writing.close();
    throw cause;
  }
}

function compose(writing: DatabaseSync, reading: DatabaseSync, clock: Clock, sealer: Sealer | undefined): Store {
  const guard = new BodyGuard();
  const queue = new WriterQueue(writing, guard, clock);
  const over = (database: DatabaseSync, place: QueryPlace, now: () => RawBuilder<number>): Connection => {
    const statements = new SqliteStatements(database);
    return {
      db: new Kysely<Tables>({ dialect: sqliteDialect(database, statements), plugins: [guard[place]] }),
      async rows<Row>(query: CompiledQuery<Row>) {
        guard.assert(place);
        return statements.run<Row>(query).rows;
      },
      now,
      sealer,
    };
  };
  let bodyBegan = 0;
  const writer = createWriter(over(writing, 'inside', () => sql.val(bodyBegan)));
  const leases = new ProcessLeases();
  const run = async <T>(body: (writer: Writer) => Promise<T>) => {
    guard.assertOutside();
    return queue.run(() => {
      bodyBegan = clock.now();
      return body(writer);
    });
  };

  return {
    read: createReader(over(reading, 'outside', () => sql.val(clock.now()))),
    write: run,
    writeUnder: (lease, body) =>
      run((writer) => {
        leases.assertHeld(lease);
        return body(writer);
      }),
    leases,
    buckets: null,
    hints: noHints,
    now: async () => clock.now(),
    async close() {
      guard.close();
      await queue.drained();
      if (reading.isOpen) reading.close();
      if (writing.isOpen) writing.close();
    },
  };
}

function openForWriting(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: BUSY_MS, enableForeignKeyConstraints: true });
  try {
    database.exec('pragma journal_mode = wal; pragma synchronous = full');
    return database;
  } catch (cause) {
    database.close();
    throw new Error(`${path} cannot be opened as the service's database`, { cause });
  }
}

function openForReading(path: string): DatabaseSync {
  return new DatabaseSync(path, { timeout: BUSY_MS, readOnly: true });
}
