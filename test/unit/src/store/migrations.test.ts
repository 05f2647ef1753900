import { DatabaseSync } from 'node:sqlite';
import { Kysely } from 'kysely';
import t from 'tap';
import { createLog } from '../../../../src/observability/log.ts';
import { sqliteColumns } from '../../../../src/store/column-types.ts';
import { migrate } from '../../../../src/store/migrate.ts';
import { migrations } from '../../../../src/store/migrations.ts';
import type { Tables } from '../../../../src/store/schema.ts';
import { sqliteDialect } from '../../../../src/store/sqlite-dialect.ts';

t.test('all steps lead from an empty database to the tables of the schema', async (t) => {
  const database = new DatabaseSync(':memory:');
  t.teardown(() => database.close());
  const db = new Kysely<Tables>({ dialect: sqliteDialect(database) });
  await migrate({ db, types: sqliteColumns, log: createLog('silent'), now: () => 5 }, migrations);
  const tables = database.prepare("select name from sqlite_schema where type = 'table' order by name").all();
  t.strictSame(
    tables.map(({ name }) => name),
    [
      'attempts',
      'budgets',
      'chain_identities',
      'decisions',
      'effects',
      'idempotency_keys',
      'instances',
      'intents',
      'kept_bytes',
      'lane_sequences',
      'leases',
      'meta',
      'migrations',
      'notifications',
      'outbox',
      'plugin_kv',
      'plugin_kv_usage',
      'plugin_locks',
      'rate_buckets',
      'relayers',
      'spending',
      'transactions',
    ],
  );
  t.equal(new Set(migrations.map(({ name }) => name)).size, migrations.length, 'each step has its own name');
});
