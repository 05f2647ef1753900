/**
 * The engine's repeated reads cost the same however long the history is: by the query plans of both databases, and on
 * PostgreSQL by the pages that were read. `npm run bench -- history` measures the times.
 */

import { DatabaseSync } from 'node:sqlite';
import { type CompiledQuery, Kysely, sql } from 'kysely';
import type pg from 'pg';
import t, { type Test } from 'tap';
import { systemClock } from '../../src/domain/clock.ts';
import { createLog } from '../../src/observability/log.ts';
import { openPostgresStore } from '../../src/store/postgres/postgres.ts';
import { postgresDialect, typeParsers } from '../../src/store/postgres/postgres-dialect.ts';
import { createStoreReader } from '../../src/store/queries.ts';
import type { Tables } from '../../src/store/schema.ts';
import { sqliteDialect } from '../../src/store/sqlite/sqlite-dialect.ts';
import type { StoreReader } from '../../src/store/store.ts';
import { engineReads, fillSqlite, historyOf } from '../support/history.ts';
import { startPostgres } from '../support/postgres.ts';
import { PostgresPool } from '../support/postgres-pool.ts';
import { temporaryStore } from '../support/store.ts';

/** Makes the engine's reads one after the other. Calls back with the queries of each. */
async function eachRead(
  open: (log: (event: { query: CompiledQuery }) => void) => Kysely<Tables>,
  count: number,
  inspect: (name: string, queries: readonly CompiledQuery[]) => Promise<void>,
): Promise<void> {
  let made: CompiledQuery[] = [];
  const db = open(({ query }) => void made.push(query));
  const run = <Row>(query: CompiledQuery<Row>) => db.executeQuery(query);
  const reader: StoreReader = createStoreReader({ db, run, now: () => sql`5`, settledWrites: () => sql`1` });
  for (const [name, read] of Object.entries(engineReads(reader, count))) {
    made = [];
    await read();
    await inspect(name, made);
  }
}

/** Steps in SQLite's plans whose cost depends on open transactions or on one row, not on ended ones. */
const BOUNDED: readonly RegExp[] = [
  // Indexes that only contain open or waiting rows.
  /INDEX (transactions_due|intents_waiting)\b/,
  /INDEX transactions_open_in_lane \(lane=\? AND status=\?( AND next_action_at[<>]\?)*\)$/,
  // From lane to lane.
  /COVERING INDEX transactions_open_in_lane( \(lane>\?\))?$/,
  // One row, or the few rows of one transaction.
  /\((id|rowid|transaction_id)=\?\)$/,
  /INDEX transactions_by_sequence \(relayer_id=\? AND sequence=\?\)$/,
  /INDEX transactions_by_content \(lane=\? AND content_key=\?\)$/,
  /INDEX transactions_by_parent \(parent_id=\?\)$/,
  /INDEX sqlite_autoindex_attempts_2 \(lane=\? AND hash=\?\)$/,
  // The end of an index.
  /INDEX transactions_confirmed \(relayer_id=\? AND confirmed_at>\?\)$/,
  // Tables and results that are small in themselves.
  /^(SCAN|SEARCH) (relayers|lanes|down|kept|transaction_counts|CONSTANT ROW)\b/,
  /^(COMPOUND QUERY|LEFT-MAX SUBQUERY|CO-ROUTINE|SCALAR SUBQUERY|CORRELATED|UNION ALL|SETUP|RECURSIVE STEP)/,
];

/** Steps that read an index by open statuses only. */
const OPEN = [/INDEX transactions_by_relayer_and_status \(relayer_id=\? AND status=\?\)$/];
/** Sorts rows that one of the steps above has found. */
const SORTS = /^USE TEMP B-TREE FOR ORDER BY$/;

const ALSO: Readonly<Record<string, readonly RegExp[]>> = {
  openTransactions: [SORTS],
  cancelable: [...OPEN, SORTS],
  pendingCount: OPEN,
  openCounts: [...OPEN, /^USE TEMP B-TREE FOR GROUP BY$/],
};

t.test('on SQLite', async (t) => {
  const count = 2_000;
  const { path, remove, store } = await temporaryStore(systemClock);
  t.teardown(remove);
  await store.close();
  fillSqlite(path, count);
  const database = new DatabaseSync(path);
  t.teardown(() => database.close());

  const open = (log: (event: { query: CompiledQuery }) => void) =>
    new Kysely<Tables>({ dialect: sqliteDialect(database), log });
  await eachRead(open, count, async (name, queries) => {
    const steps = queries.flatMap(({ sql, parameters }) => {
      const plan = database.prepare(`explain query plan ${sql}`).all(...(parameters as string[]));
      return plan.map(({ detail }) => String(detail));
    });
    const bounded = [...BOUNDED, ...(ALSO[name] ?? [])];
    t.ok(steps.length > 0, name);
    t.strictSame(
      steps.filter((step) => !bounded.some((known) => known.test(step))),
      [],
      name,
    );
  });
});

/**
 * Reads that take a whole table before PostgreSQL has counted it. By default autovacuum counts within a minute of the
 * first rows. A scrape of the metrics makes this read.
 */
const UNCOUNTED: ReadonlySet<string> = new Set(['openCounts']);

/** A table with this history has some hundreds of pages. */
const MAX_PAGES = 80;

/** The used part of the answer to `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON)`. */
interface Explained {
  'QUERY PLAN': [{ Plan: { 'Shared Hit Blocks': number; 'Shared Read Blocks': number } }];
}

t.test('on PostgreSQL', async (t) => {
  const count = 20_000;
  const postgres = await startPostgres();
  t.teardown(() => postgres.stop());
  for (const isCounted of [true, false]) {
    const what = isCounted ? 'that has counted its rows' : 'that has not counted them yet';
    await t.test(what, async (t) => {
      const url = await postgres.createDatabase();
      await (await openPostgresStore({ url, log: createLog('silent') })).close();
      const pool = new PostgresPool({ connectionString: url, types: typeParsers, max: 1 });
      t.teardown(() => pool.end());
      // Otherwise autovacuum would count the rows at any time.
      for (const table of ['transactions', 'attempts', 'decisions', 'intents']) {
        await pool.query(`alter table ${table} set (autovacuum_enabled = false)`);
      }
      for (const statement of historyOf(count, 'postgres')) await pool.query(statement);
      if (isCounted) await pool.query('vacuum analyze');
      const open = (log: (event: { query: CompiledQuery }) => void) =>
        new Kysely<Tables>({ dialect: postgresDialect(pool), log });
      await eachRead(open, count, async (name, queries) => {
        if (isCounted || !UNCOUNTED.has(name)) await readsFew(t, pool, name, queries);
      });
      await hasPagesFromEverywhere(
        t,
        open(() => undefined),
        count,
      );
    });
  }
});

/** Pages beyond the first ten thousand rows are found through a table of contents. */
async function hasPagesFromEverywhere(t: Test, db: Kysely<Tables>, count: number): Promise<void> {
  const run = <Row>(query: CompiledQuery<Row>) => db.executeQuery(query);
  const reader: StoreReader = createStoreReader({ db, run, now: () => sql`5`, settledWrites: () => sql`1` });
  for (const page of [1, 1_000, 1_001, 1_500, 2_001, 2_002]) {
    const { items, total } = await reader.transactions('r1', { page, perPage: 10 });
    const first = count + 2 - (page - 1) * 10;
    const expected = Array.from({ length: Math.min(10, Math.max(0, first + 1)) }, (_, index) => `t${first - index}`);
    t.strictSame([items.map(({ id }) => id), total], [expected, count + 3], `page ${page}`);
  }
  const failed = await reader.transactions('r1', { page: 2, perPage: 1 }, 'failed');
  t.match(failed, { items: [{ id: `t${count - 50}` }], total: count / 50 + 1 });
  t.equal((await reader.transactions('r1', { page: 1_200, perPage: 10 }, 'confirmed')).items.length, 10);
}

async function readsFew(t: Test, pool: pg.Pool, name: string, queries: readonly CompiledQuery[]): Promise<void> {
  for (const { sql, parameters } of queries) {
    const { rows } = await pool.query<Explained>(`explain (analyze, buffers, format json) ${sql}`, [...parameters]);
    const plan = rows[0]?.['QUERY PLAN'][0].Plan;
    const pages = (plan?.['Shared Hit Blocks'] ?? Infinity) + (plan?.['Shared Read Blocks'] ?? 0);
    t.ok(pages <= MAX_PAGES, `${name}: ${pages} pages`, { diagnostic: pages > MAX_PAGES, plan });
  }
}
