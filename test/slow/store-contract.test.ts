/** The store's contract on PostgreSQL. On SQLite, the unit tests of its queries check it. */

import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { createLog } from '../../src/observability/log.ts';
import { openPostgresStore } from '../../src/store/postgres/postgres.ts';
import { createSealer } from '../../src/store/sealing.ts';
import { startPostgres } from '../support/postgres.ts';
import { PostgresPool } from '../support/postgres-pool.ts';
import { storeContract } from '../support/store-contract/contract.ts';

const postgres = await startPostgres();
t.teardown(() => postgres.stop());

// The schema is made once. Each test gets a copy of this database.
const made = await postgres.createDatabase();
await (await openPostgresStore({ url: made, log: createLog('silent') })).close();

/** In tests with hundreds of writers, the last one waits for all others, even on a slow machine. */
const CONNECT_MS = 120_000;

t.test('on PostgreSQL', { jobs: 3 }, async (t) => {
  storeContract(t, async (test: Test) => {
    const url = await postgres.copyDatabase(made);
    const sealer = createSealer([randomBytes(32)], randomBytes);
    const store = await openPostgresStore({ url, log: createLog('silent'), sealer, connectMs: CONNECT_MS });
    test.teardown(() => store.close());
    return store;
  });
});

t.test('no writers ever waited for each other in a ring, which costs each of them a second', async (t) => {
  const pool = new PostgresPool({ connectionString: made, max: 1 });
  t.teardown(() => pool.end());
  // PostgreSQL adds a connection's statistics when it ends.
  const others = `select from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()`;
  while ((await pool.query(others)).rowCount !== 0) await delay(20);
  const { rows } = await pool.query('select sum(deadlocks)::int as deadlocks from pg_stat_database');
  t.strictSame(rows, [{ deadlocks: 0 }]);
});
