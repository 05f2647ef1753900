import { closeSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { type CompiledQuery, Kysely, sql } from 'kysely';
import type { Clock } from '../../domain/clock.ts';
import type { Log } from '../../observability/log.ts';
import { sqliteColumns } from '../column-types.ts';
import type { Connection } from '../connection.ts';
import { noHints } from '../instances.ts';
import { type Lease, type LeaseAnswer, LeaseLost, type Leases } from '../lease.ts';
import { migrate } from '../migrations/migrate.ts';
import { migrations } from '../migrations/migrations.ts';
import { createStoreReader, createStoreWriter } from '../queries.ts';
import type { Tables } from '../schema.ts';
import { checkSealingKeys, type Sealer } from '../sealing.ts';
import type { Store, StoreWriter } from '../store.ts';
import { resealSettings } from '../tables/stored-record.ts';
import { BodyGuard, type QueryPlace } from '../write-body-guard.ts';
import { Checkpoints } from './checkpoints.ts';
import { DurableCommits, openWalFile, type WalFile } from './durable-commits.ts';
import { SqliteStatements, sqliteDialect } from './sqlite-dialect.ts';
import { WriterQueue } from './writer-queue.ts';

/** How long a statement waits for another process, such as a backup, in milliseconds. It blocks the event loop. */
const BUSY_MS = 1000;

interface SqliteStoreOptions {
  /** The database file, made if it does not exist. Its folder must exist, and the folder's lock (`lock.ts`) be held. */
  path: string;
  log: Log;
  clock: Clock;
  /** Checked against the key that the database was sealed with; absent when nothing is ever sealed. */
  sealer?: Sealer;
  /** Opens the log of the database at a path; absent: {@link openWalFile}. */
  openWal?: (path: string) => WalFile;
}

/** The open parts of a store. */
interface Parts {
  writing: DatabaseSync;
  reading: DatabaseSync;
  commits: DurableCommits;
  clock: Clock;
  sealer: Sealer | undefined;
}

/**
 * Opens the embedded store. One connection writes and another reads, so a read never waits for a write.
 * @throws when the file is no database, is damaged, is of a newer version, or was sealed with another key
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { path, log, clock, sealer, openWal = openWalFile } = options;
  // SQLite gives its side files the same mode.
  closeSync(openSync(path, 'a', 0o600));
  const opened: { close(): void }[] = [];
  try {
    const writing = openForWriting(path);
    opened.push(writing);
    const whole = new Kysely<Tables>({ dialect: sqliteDialect(writing) });
    await migrate({ db: whole, types: sqliteColumns, log, now: clock.now }, migrations);
    if (sealer !== undefined) {
      await checkSealingKeys(whole, sealer);
      await resealSettings(whole, sealer, log);
    }
    const wal = openWal(path);
    opened.push(wal);
    await wal.flush();
    const reading = openForReading(path);
    opened.push(reading);
    const commits = new DurableCommits({ writing, reading, wal, checkpoints: new Checkpoints(path, log), log });
    return compose({ writing, reading, commits, clock, sealer });
  } catch (cause) {
    for (const part of opened.toReversed()) part.close();
    throw cause;
  }
}

function compose({ writing, reading, commits, clock, sealer }: Parts): Store {
  const guard = new BodyGuard();
  const queue = new WriterQueue(writing, commits, guard, clock);
  const over = (database: DatabaseSync, place: QueryPlace, now: () => number): Connection => {
    const statements = new SqliteStatements(database);
    // A function, so that a compiled query does not fix its value. Within a statement its value does not change.
    database.function('now_ms', { deterministic: true }, () => BigInt(now()));
    return {
      db: new Kysely<Tables>({
        dialect: sqliteDialect(database, statements, () => guard.assert(place)),
        plugins: [guard[place]],
      }),
      run<Row>(query: CompiledQuery<Row>) {
        const answer = () => {
          guard.assert(place);
          return statements.run<Row>(query);
        };
        // The guard looks only after the pause: the body can have ended meanwhile.
        return (place === 'inside' ? queue.pause()?.then(answer) : undefined) ?? answer();
      },
      now: () => sql<number>`now_ms()`,
      settledWrites: () => sql<number>`1`,
      ...(place === 'outside' && {
        version() {
          guard.assert(place);
          return commits.version;
        },
      }),
      sealer,
    };
  };
  let bodyBegan = 0;
  const writer = createStoreWriter(over(writing, 'inside', () => bodyBegan));
  const leases = new ProcessLeases();
  const run = async <T>(body: (writer: StoreWriter) => Promise<T>) => {
    guard.assertOutside();
    return queue.run(() => {
      bodyBegan = clock.now();
      return body(writer);
    });
  };

  return {
    read: createStoreReader(over(reading, 'outside', () => clock.now())),
    write: run,
    writeUnder: (lease, body) =>
      run(async (writer) => {
        leases.assertHeld(lease);
        const result = await body(writer);
        leases.assertHeld(lease);
        return result;
      }),
    leases,
    buckets: null,
    instances: null,
    hints: noHints,
    async now() {
      // Callers that check whether the store works ask for its time, so this fails after a disk failure.
      commits.assertIntact();
      return clock.now();
    },
    place: async () => null,
    warnings: async () => [],
    async close() {
      guard.close();
      await queue.drained();
      await commits.close();
      // The last connection to close makes a checkpoint and deletes the log, if it can write. After a disk failure that
      // must not happen: the last connection is then the one that only reads.
      for (const database of commits.isIntact ? [reading, writing] : [writing, reading]) {
        if (database.isOpen) database.close();
      }
    },
  };
}

function openForWriting(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: BUSY_MS, enableForeignKeyConstraints: true });
  try {
    database.exec('pragma journal_mode = wal; pragma synchronous = full');
    // What an undone body would bring back, a few pages at a time. By default SQLite writes it to a file.
    database.exec('pragma temp_store = memory');
    // After a crash, the log's content may be in memory only, or on a disk that failed. Writes it to the database file
    // before anybody reads it.
    database.exec('pragma wal_checkpoint(passive)');
    return database;
  } catch (cause) {
    database.close();
    throw new Error(`${path} cannot be opened as the service's database`, { cause });
  }
}

function openForReading(path: string): DatabaseSync {
  return new DatabaseSync(path, { timeout: BUSY_MS, readOnly: true });
}

/**
 * The leases of a store that only one process uses (`lock.ts`): always free, never expired. Tokens still rise. So a
 * holder that was replaced within the process is refused, as it would be between processes.
 */
export class ProcessLeases implements Leases {
  readonly lastsMs = Number.POSITIVE_INFINITY;
  readonly #tokens = new Map<string, number>();
  #latest = 0;

  async acquire(name: string): Promise<LeaseAnswer> {
    this.#latest += 1;
    this.#tokens.set(name, this.#latest);
    return { kind: 'taken', lease: { name, token: this.#latest } };
  }

  async renew(leases: readonly Lease[]): Promise<Lease[]> {
    return leases.filter((lease) => this.#has(lease));
  }

  async release(leases: readonly Lease[]): Promise<void> {
    for (const lease of leases) {
      if (this.#has(lease)) this.#tokens.delete(lease.name);
    }
  }

  /** @throws LeaseLost unless the lease is held */
  assertHeld(lease: Lease): void {
    if (!this.#has(lease)) throw new LeaseLost(lease);
  }

  #has({ name, token }: Lease): boolean {
    return this.#tokens.get(name) === token;
  }
}
