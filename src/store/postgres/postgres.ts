import { randomUUID } from 'node:crypto';
import { Socket } from 'node:net';
import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { type CompiledQuery, type DatabaseConnection, Kysely, sql } from 'kysely';
import pg from 'pg';
import type { Log } from '../../observability/log.ts';
import { postgresColumns } from '../column-types.ts';
import type { Connection } from '../connection.ts';
import type { Lease } from '../lease.ts';
import { migrate } from '../migrations/migrate.ts';
import { migrations } from '../migrations/migrations.ts';
import { preparedQuery } from '../prepared.ts';
import { createStoreReader, createStoreWriter } from '../queries.ts';
import type { Tables } from '../schema.ts';
import { checkSealingKeys, type Sealer } from '../sealing.ts';
import type { Store, StoreWriter, WriteOptions } from '../store.ts';
import { resealSettings } from '../tables/stored-record.ts';
import { BodyGuard, type QueryPlace } from '../write-body-guard.ts';
import {
  chooseEncryption,
  clientConfig,
  explainConnectFailure,
  type PostgresAddress,
  postgresAddress,
} from './postgres-address.ts';
import { Gathering, ReadingConnection, TransactionConnection, type Waiting } from './postgres-batches.ts';
import { connectionDialect, postgresDialect, typeParsers } from './postgres-dialect.ts';
import { type Durability, readDurability } from './postgres-durability.ts';
import { callerErrorOf, databaseErrorReason, isConnectionTrouble, isSerializationFailure } from './postgres-errors.ts';
import { PostgresHints } from './postgres-hints.ts';
import { PostgresBuckets, PostgresInstances, PostgresLeases } from './postgres-instances.ts';

/** The fewest and the most connections of the pool by default. */
const [MIN_CONNECTIONS, MAX_CONNECTIONS] = [11, 41];

/** One of them listens to the other instances. The others are as many as keep that many cores busy. */
function defaultConnections(): number {
  return Math.min(Math.max(4 * availableParallelism() + 1, MIN_CONNECTIONS), MAX_CONNECTIONS);
}

/** How long to wait for a new connection, or for one that others use, in milliseconds. */
const CONNECT_MS = 5_000;

/**
 * Longest time of a statement, in milliseconds. Far above what any query of the store takes, and below what a client
 * waits for an answer.
 */
const STATEMENT_MS = 5_000;

/**
 * A body that leaves its transaction idle for this long, in milliseconds, loses its connection. Nothing that it wrote
 * is kept.
 */
const IDLE_IN_TRANSACTION_MS = 5_000;

/**
 * How long a killed instance's work stands still, in milliseconds. A stopped instance is cut off inside a transaction
 * before that.
 */
const LEASE_MS = 10_000;

/** Longest pause, in milliseconds, while a start waits for the server. The pauses double up to this. */
const MAX_PAUSE_MS = 2_000;

/** How often a colliding write is tried. In each round of colliding writers, one wins. */
const TRIES = 50;

/** How many bodies share a transaction, where they may. */
const BODIES_TOGETHER = 64;

/** Such a body waits no longer than this for the commit of others, which a locked row may hold up. */
const BODIES_LIMITS = { underWay: 1, waitMs: 10 };

/** The number of the migration lock, the same for all instances on a database. Any fixed number will do. */
const MIGRATION_LOCK = 4_716_903;

export interface PostgresStoreOptions {
  /** `postgres://user:password@host:port/database`, with the parameters of libpq for TLS. */
  url: string;
  log: Log;
  /** Checked against the key that the database was sealed with; absent when nothing is ever sealed. */
  sealer?: Sealer;
  /** How long to wait for a server that does not answer yet; default 0. */
  patienceMs?: number;
  /** Connections of the pool, at least 2: one of them listens to the other instances. Default: by the cores. */
  connections?: number | undefined;
  /** How long a query waits for one of the connections; default 5 s. */
  connectMs?: number;
  /** How long a body may leave its transaction alone; default 5 s. */
  idleInTransactionMs?: number;
  /** How long a lease lasts without renewal, longer than `idleInTransactionMs`; default 10 s. */
  leaseMs?: number;
  /**
   * Ends an opening that is under way, with the signal's reason, and ends all connections. From then on, all callers
   * get the error that the database does not answer. Committed data stays. A commit under way may or may not have been
   * kept.
   */
  cut?: AbortSignal;
}

/**
 * Opens the store on PostgreSQL, which several instances may share. Every write body is one transaction that sees one
 * state of the database. If another instance changed what the body touches, the body runs again from the start.
 * @throws when the server cannot be reached, or the database is of a newer version or sealed with another key
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const {
    url,
    log,
    sealer,
    patienceMs = 0,
    connections = defaultConnections(),
    connectMs = CONNECT_MS,
    idleInTransactionMs = IDLE_IN_TRANSACTION_MS,
    leaseMs = LEASE_MS,
    cut = new AbortController().signal,
  } = options;
  if (idleInTransactionMs >= leaseMs) throw new Error('A lease must outlast a body that leaves its transaction alone');
  const address = postgresAddress(url, process.env);
  const sockets = new PostgresSockets(cut, log);
  const { server, commit, overridden, warnings } = await patiently(
    async () => {
      const limits = { stream: sockets.make, connectionTimeoutMillis: CONNECT_MS };
      const server = clientConfig(address, await chooseEncryption(address, limits));
      return { server, ...(await bringUp(createPool(server, log, { stream: sockets.make, max: 1 }), log, sealer)) };
    },
    { patienceMs, log, cut, address },
  );
  const { ssl } = server;
  const isChecked = typeof ssl === 'object' && ssl.rejectUnauthorized !== false;
  log.info({ server: address.place, isEncrypted: ssl !== false, isChecked }, 'connected to the database');
  for (const warning of overridden) log.warn({ warning }, 'a setting of the database is overridden');
  for (const warning of warnings) log.warn({ warning }, 'the database may lose what it commits');
  const pool = createPool(server, log, {
    stream: sockets.make,
    max: connections,
    connectionTimeoutMillis: connectMs,
    statement_timeout: STATEMENT_MS,
    query_timeout: STATEMENT_MS + 1_000,
    idle_in_transaction_session_timeout: idleInTransactionMs,
  });
  const instance = randomUUID();
  const whole = new Kysely<Tables>({ dialect: postgresDialect(pool) });
  const hints = new PostgresHints({ pool, instance, log });
  hints.start();
  const instances = new PostgresInstances(whole, instance, leaseMs);
  const leases = new PostgresLeases(whole, instance, leaseMs);
  return compose({ pool, commit, whole, leases, instances, hints, sealer });
}

/**
 * Tries to start until the server answers: it may be starting, or start later. An error from the server itself is
 * thrown at once.
 */
async function patiently<T>(
  start: () => Promise<T>,
  { patienceMs, log, cut, address }: { patienceMs: number; log: Log; cut: AbortSignal; address: PostgresAddress },
): Promise<T> {
  const giveUpAt = performance.now() + patienceMs;
  let isWaiting = false;
  for (let pause = 100; ; pause = Math.min(2 * pause, MAX_PAUSE_MS)) {
    try {
      const started = await start();
      if (isWaiting) log.info('the database answers');
      return started;
    } catch (cause) {
      cut.throwIfAborted();
      if (!isConnectionTrouble(cause)) throw explainConnectFailure(cause, address);
      if (performance.now() + pause > giveUpAt) {
        throw new Error(
          `The database does not answer: ${databaseErrorReason(cause)} (DATABASE_URL, server ${address.place})`,
          {
            cause,
          },
        );
      }
      if (!isWaiting)
        log.warn(
          { reason: databaseErrorReason(cause), patienceMs },
          'the database does not answer yet; it is waited for',
        );
      isWaiting = true;
      await delay(pause, undefined, { signal: cut }).catch(() => cut.throwIfAborted());
    }
  }
}

/** Prepares the database on a connection of its own, because a step of the schema may take longer than a query may. */
async function bringUp(pool: pg.Pool, log: Log, sealer: Sealer | undefined): Promise<Durability> {
  const whole = new Kysely<Tables>({ dialect: postgresDialect(pool) });
  try {
    return await whole.connection().execute(async (db) => {
      // Held until the connection ends.
      await sql`select pg_advisory_lock(${sql.lit(MIGRATION_LOCK)})`.execute(db);
      await migrate({ db, types: postgresColumns, log, now: Date.now }, migrations);
      await forgetForeignEvents(db);
      if (sealer !== undefined) {
        await checkSealingKeys(db, sealer);
        await resealSettings(db, sealer, log);
      }
      return await readDurability(db);
    });
  } finally {
    await whole.destroy();
  }
}

/** Deletes events that came here from another cluster and have write numbers that this cluster has not reached. */
async function forgetForeignEvents(db: Kysely<Tables>): Promise<void> {
  await sql`delete from transaction_events where written > pg_current_xact_id()::text::bigint`.execute(db);
}

function createPool(server: pg.PoolConfig, log: Log, limits: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool({
    ...server,
    application_name: 'isolayer',
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    types: typeParsers,
    ...limits,
  });
  // A connection may break at any moment, in use or idle, and is then replaced. Without a listener the error event
  // would end the process.
  let lostAt = Number.NEGATIVE_INFINITY;
  pool.on('connect', (client) => {
    client.on('error', (error) => {
      // All connections break together when the server goes, so only one line is a warning.
      const isFirst = performance.now() - lostAt > CONNECT_MS;
      lostAt = performance.now();
      log[isFirst ? 'warn' : 'debug']({ reason: databaseErrorReason(error) }, 'a database connection was lost');
    });
  });
  pool.on('error', () => {});
  return pool;
}

/** The open parts of a store. */
interface Parts {
  pool: pg.Pool;
  /** The value of `synchronous_commit` for each write. */
  commit: string;
  whole: Kysely<Tables>;
  leases: PostgresLeases;
  instances: PostgresInstances;
  hints: PostgresHints;
  sealer: Sealer | undefined;
}

/** A body that may share its transaction, and the lease that it needs. */
interface BodyApart {
  lease: Lease | undefined;
  body: (writer: StoreWriter) => Promise<unknown>;
}

/** What writes over one connection of the pool use. Kept with it, so that each query is built and compiled once. */
interface WritingConnection {
  connection: TransactionConnection;
  writer: StoreWriter;
  assertHeld(lease: Lease, isOneOfSeveral: boolean): Promise<void>;
}

function compose({ pool, commit, whole, leases, instances, hints, sealer }: Parts): Store {
  const guard = new BodyGuard();
  // Within a transaction this is the transaction's beginning, outside one the moment of the query.
  const now = () => sql<number>`floor(extract(epoch from transaction_timestamp()) * 1000)::bigint`;
  const running = new Set<Promise<unknown>>();
  let closing: Promise<void> | undefined;

  const over = (connection: DatabaseConnection, place: QueryPlace): Connection => {
    // Looked at when a query runs, too: after its rollback, a late query of a body would be kept alone.
    const guarded: DatabaseConnection = {
      async executeQuery<Row>(query: CompiledQuery) {
        if (place === 'inside') guard.assert(place);
        return connection.executeQuery<Row>(query);
      },
      streamQuery: (query, chunk) => connection.streamQuery(query, chunk),
    };
    return {
      db: new Kysely<Tables>({ dialect: connectionDialect(guarded), plugins: [guard[place]] }),
      run<Row>(query: CompiledQuery<Row>) {
        guard.assert(place);
        return guarded.executeQuery<Row>(query);
      },
      now,
      settledWrites: () => sql<number>`pg_snapshot_xmin(pg_current_snapshot())::text::bigint`,
      hasOtherWriters: true,
      sealer,
    };
  };
  const reading = new ReadingConnection(pool);
  const readClock = preparedQuery({ run: (query) => reading.executeQuery(query) }, () =>
    whole.selectNoFrom(now().as('at')),
  );

  const begin = [
    'start transaction isolation level repeatable read',
    // A setting of the connection would not hold behind a pooler that gives each transaction another connection.
    `set local synchronous_commit = ${commit}`,
  ];
  const writing = new WeakMap<pg.PoolClient, WritingConnection>();
  function writingOver(client: pg.PoolClient): WritingConnection {
    const known = writing.get(client);
    if (known !== undefined) return known;
    const connection = new TransactionConnection(client);
    const made = {
      connection,
      writer: createStoreWriter(over(connection, 'inside')),
      assertHeld: leases.heldOver({ run: (query) => connection.executeQuery(query) }),
    };
    writing.set(client, made);
    return made;
  }

  /**
   * @param run runs the body, or several of them
   * @param onCommit called before the commit, after which it is unknown what is kept
   */
  async function writeOnce<T>(
    leasesNeeded: readonly Lease[],
    run: (writer: StoreWriter) => Promise<T>,
    onCommit = () => {},
  ): Promise<T> {
    const client = await pool.connect();
    let isBroken = true;
    try {
      const { connection, writer, assertHeld } = writingOver(client);
      connection.begin(begin);
      // Asked for first, and so in force before anything else of the body. It goes along with its first statements.
      const held = Promise.all(leasesNeeded.map((lease) => assertHeld(lease, leasesNeeded.length > 1)));
      const [ended, isHeld] = await Promise.allSettled([run(writer), held]);
      const failed = isHeld.status === 'rejected' ? isHeld : ended;
      if (failed.status === 'rejected') {
        isBroken = isConnectionTrouble(failed.reason);
        if (!isBroken) await connection.rollback().catch(() => (isBroken = true));
        throw failed.reason;
      }
      onCommit();
      await connection.commit();
      isBroken = false;
      return failed.value;
    } finally {
      client.release(isBroken);
    }
  }

  const inScope = <T>(body: (writer: StoreWriter) => Promise<T>, writer: StoreWriter) =>
    guard.enter(() => body(writer)).ended;

  async function alone<T>(lease: Lease | undefined, body: (writer: StoreWriter) => Promise<T>): Promise<T> {
    const needed = lease === undefined ? [] : [lease];
    return againOnCollision(() => writeOnce(needed, (writer) => inScope(body, writer)));
  }

  const gathering = () =>
    new Gathering<BodyApart, unknown>(async (waiting) => {
      const parts = Array.from({ length: Math.ceil(waiting.length / BODIES_TOGETHER) }, (_, part) =>
        waiting.slice(part * BODIES_TOGETHER, (part + 1) * BODIES_TOGETHER),
      );
      await Promise.all(parts.map((part) => writeTogether(part)));
    }, BODIES_LIMITS);
  // Clients wait for those of requests; those of lanes may be long.
  const [ofRequests, ofLanes] = [gathering(), gathering()];

  /** Runs the bodies in one transaction. When one fails, nothing is kept, and each runs again alone. Never rejects. */
  async function writeTogether(part: readonly Waiting<BodyApart, unknown>[]): Promise<void> {
    const all = async (writer: StoreWriter) => {
      const ended = await Promise.allSettled(part.map(({ asked: { body } }) => inScope(body, writer)));
      return ended.map((one) => {
        if (one.status === 'rejected') throw one.reason;
        return one.value;
      });
    };
    const needed = new Map(
      part.flatMap(({ asked: { lease } }) => (lease === undefined ? [] : [[leaseKey(lease), lease]])),
    );
    let isCommitting = false;
    try {
      if (part.length > 1) {
        const results = await writeOnce([...needed.values()], all, () => (isCommitting = true));
        for (const [at, { resolve }] of part.entries()) resolve(results[at]);
        return;
      }
    } catch (cause) {
      if (isConnectionTrouble(cause) || (isCommitting && !isSerializationFailure(cause))) {
        for (const { reject } of part) reject(callerErrorOf(cause));
        return;
      }
    }
    await Promise.all(
      part.map(({ asked: { lease, body }, resolve, reject }) => alone(lease, body).then(resolve, reject)),
    );
  }

  async function write<T>(
    lease: Lease | undefined,
    body: (writer: StoreWriter) => Promise<T>,
    { isApart = false }: WriteOptions = {},
  ): Promise<T> {
    guard.assertOutside();
    const together = lease === undefined ? ofRequests : ofLanes;
    const writing = isApart ? (together.add({ lease, body }) as Promise<T>) : alone(lease, body);
    running.add(writing);
    return writing.finally(() => running.delete(writing));
  }

  async function end(): Promise<void> {
    await Promise.allSettled([...running, hints.close()]);
    await pool.end();
  }

  return {
    read: tellingTrouble(createStoreReader(over(reading, 'outside'))),
    write: (body, options) => write(undefined, body, options),
    writeUnder: write,
    leases: tellingTrouble(leases),
    buckets: tellingTrouble(new PostgresBuckets(whole)),
    instances: tellingTrouble(instances),
    hints,
    async now() {
      const [row] = await readClock().catch(rethrowTold);
      return row?.at ?? Number.NaN;
    },
    place: () => placeOf(whole).catch(rethrowTold),
    warnings: () =>
      readDurability(whole)
        .then(({ warnings }) => warnings)
        .catch(rethrowTold),
    close() {
      guard.close();
      closing ??= end();
      return closing;
    },
  };
}

function leaseKey({ name, token }: Lease): string {
  return `${token} ${name}`;
}

/**
 * Identifies the place of the tables by three numbers. `pg_restore` makes tables with new numbers, a copied database
 * has another number, and each cluster has a number of its own, which some providers do not show.
 */
async function placeOf(db: Kysely<Tables>): Promise<string> {
  const cluster = await sql<{ id: string }>`select system_identifier::text as id from pg_control_system()`
    .execute(db)
    .then(({ rows: [row] }) => row?.id ?? '')
    .catch((cause: unknown) => {
      if (isConnectionTrouble(cause)) throw cause;
      return '';
    });
  const { rows } = await sql<{ database: string; table: string }>`
    select oid::text as database, 'meta'::regclass::oid::text as "table" from pg_database where datname = current_database()
  `.execute(db);
  return [cluster, rows[0]?.database, rows[0]?.table].join('/');
}

async function againOnCollision<T>(run: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await run();
    } catch (cause) {
      if (!isSerializationFailure(cause) || tries === TRIES) throw callerErrorOf(cause);
      await delay(Math.min(tries, 10));
    }
  }
}

/** Wraps an object so that its methods reject with {@link callerErrorOf} errors. */
function tellingTrouble<T extends object>(target: T): T {
  return new Proxy(target, {
    get(_, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) => {
        const answer: unknown = Reflect.apply(member, target, args);
        return answer instanceof Promise ? answer.catch(rethrowTold) : answer;
      };
    },
  });
}

function rethrowTold(cause: unknown): never {
  throw callerErrorOf(cause);
}

/**
 * The sockets of all connections to a database server, so that they can be ended together. `pg` itself waits for a
 * server's answer and its farewell. A server that was stopped, or that is unreachable, gives neither.
 */
export class PostgresSockets {
  readonly #cut: AbortSignal;
  readonly #open = new Set<Socket>();

  /** When `cut` aborts, all sockets are destroyed at once, and later ones as soon as they are made. */
  constructor(cut: AbortSignal, log: Log) {
    this.#cut = cut;
    cut.addEventListener('abort', () => this.#end(log), { once: true });
  }

  /** Makes an unconnected socket. It is the option `stream` of a `pg` client. */
  readonly make = (): Socket => {
    const socket = new Socket();
    this.#open.add(socket);
    socket.once('close', () => this.#open.delete(socket));
    // Waits a tick: the client begins to connect in this tick, even with a destroyed socket.
    if (this.#cut.aborted) process.nextTick(() => socket.destroy());
    return socket;
  };

  #end(log: Log): void {
    const connections = this.#open.size;
    if (connections > 0) log.warn({ connections }, 'the database did not answer in time: its connections are closed');
    for (const socket of this.#open) socket.destroy();
  }
}
