import { setTimeout as delay } from 'node:timers/promises';
import { Kysely, sql } from 'kysely';
import pg from 'pg';
import type { Log } from '../observability/log.ts';
import { BodyGuard } from './body-guard.ts';
import { postgresColumns } from './column-types.ts';
import { migrate } from './migrate.ts';
import { migrations } from './migrations.ts';
import { resealSigningKeys } from './notifications.ts';
import { postgresDialect, typeParsers } from './postgres-dialect.ts';
import { isConnectionTrouble, isSerializationFailure, toldToCaller } from './postgres-errors.ts';
import { createReader, createWriter } from './queries.ts';
import type { Tables } from './schema.ts';
import { checkSeal, type Sealer } from './sealing.ts';
import type { Reader, Store, Writer } from './store.ts';

const CONNECTIONS = 10;
const CONNECT_MS = 5_000;
/** Far above what any query of the store takes; below what a client waits for an answer. */
const STATEMENT_MS = 10_000;
/** A body that awaits something else loses its connection after this, and nothing it wrote is kept. */
const IDLE_IN_TRANSACTION_MS = 5_000;
/** Of each round of writers that collide, one wins. */
const TRIES = 50;
/** Any fixed number will do; it is the same for all instances on a database. */
const MIGRATION_LOCK = 4_716_903;

export interface PostgresStoreOptions {
  /** `postgres://user:password@host:port/database` */
  url: string;
  log: Log;
  /** Checked against the key that the database was sealed with; absent when nothing is ever sealed. */
  sealer?: Sealer;
  /** How long a body may leave its transaction alone; default 5 s. */
  idleInTransactionMs?: number;
}

/**
 * Opens the store on PostgreSQL, which several instances may share. Every write body is one transaction that sees one
 * state of the database; when another instance changed what it touches, it runs again from the start.
 * @throws when the server cannot be reached, or the database is of a newer version or sealed with another key
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const { url, log, sealer, idleInTransactionMs = IDLE_IN_TRANSACTION_MS } = options;
  await bringUp(url, log, sealer);
  const pool = createPool(url, log, {
    max: CONNECTIONS,
    statement_timeout: STATEMENT_MS,
    query_timeout: STATEMENT_MS + 1_000,
    idle_in_transaction_session_timeout: idleInTransactionMs,
  });
  return compose(new Kysely<Tables>({ dialect: postgresDialect(pool) }), sealer);
}

/** On a connection of its own, because a step of the schema may take longer than any query may. */
async function bringUp(url: string, log: Log, sealer: Sealer | undefined): Promise<void> {
  const pool = createPool(url, log, { max: 1 });
  const whole = new Kysely<Tables>({ dialect: postgresDialect(pool) });
  try {
    await whole.connection().execute(async (db) => {
      // Held until the connection ends.
      await sql`select pg_advisory_lock(${sql.lit(MIGRATION_LOCK)})`.execute(db);
      await migrate({ db, types: postgresColumns, log, now: Date.now }, migrations);
      if (sealer !== undefined) {
        await checkSeal(db, sealer);
        await resealSigningKeys(db, sealer);
      }
    });
  } catch (cause) {
    if (isConnectionTrouble(cause)) throw new Error(`The database does not answer: ${String(cause)}`, { cause });
    throw cause;
  } finally {
    await whole.destroy();
  }
}

function createPool(url: string, log: Log, limits: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    application_name: 'isolayer',
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    types: typeParsers,
    ...limits,
  });
  // A connection may break at any moment, in use or idle, and is replaced; an event that nobody hears ends the process.
  pool.on('connect', (client) => {
    client.on('error', (error) => log.warn({ err: error }, 'a database connection was lost'));
  });
  pool.on('error', () => {});
  return pool;
}

function compose(whole: Kysely<Tables>, sealer: Sealer | undefined): Store {
  const guard = new BodyGuard();
  // Within a transaction this is its beginning, outside one the moment of the query.
  const now = () => sql<number>`floor(extract(epoch from transaction_timestamp()) * 1000)::bigint`;
  const running = new Set<Promise<unknown>>();
  let closing: Promise<void> | undefined;

  async function writeOnce<T>(body: (writer: Writer) => Promise<T>): Promise<T> {
    return whole
      .transaction()
      .setIsolationLevel('repeatable read')
      .execute((db) => guard.enter(() => body(createWriter({ db: db.withPlugin(guard.inside), now, sealer }))).ended);
  }

  return {
    read: tellingTrouble(createReader({ db: whole.withPlugin(guard.outside), now, sealer })),
    async write(body) {
      guard.assertOutside();
      const writing = againOnCollision(() => writeOnce(body));
      running.add(writing);
      return writing.finally(() => running.delete(writing));
    },
    async now() {
      const { at } = await whole.selectNoFrom(now().as('at')).executeTakeFirstOrThrow().catch(rethrowTold);
      return at;
    },
    close() {
      guard.close();
      closing ??= Promise.allSettled(running).then(() => whole.destroy());
      return closing;
    },
  };
}

async function againOnCollision<T>(run: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await run();
    } catch (cause) {
      if (!isSerializationFailure(cause) || tries === TRIES) throw toldToCaller(cause);
      await delay(Math.min(tries, 10));
    }
  }
}

/** The same reader, whose rejections are {@link toldToCaller}. */
function tellingTrouble(reader: Reader): Reader {
  return new Proxy(reader, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== 'function') return method;
      return (...args: unknown[]) => (Reflect.apply(method, target, args) as Promise<unknown>).catch(rethrowTold);
    },
  });
}

function rethrowTold(cause: unknown): never {
  throw toldToCaller(cause);
}
