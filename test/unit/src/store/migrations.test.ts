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
      'chain_identities',
      'lane_sequences',
      'leases',
      'meta',
      'migrations',
      'notifications',
      'outbox',
      'plugin_kv',
      'rate_buckets',
      'relayers',
      'transactions',
    ],
  );
  t.equal(new Set(migrations.map(({ name }) => name)).size, migrations.length, 'each step has its own name');
});

t.test('transactions that were final before there was a time of their end get one, and can be pruned', async (t) => {
  const database = new DatabaseSync(':memory:');
  t.teardown(() => database.close());
  const db = new Kysely<Tables>({ dialect: sqliteDialect(database) });
  const target = { db, types: sqliteColumns, log: createLog('silent'), now: () => 5 };
  await migrate(target, migrations.slice(0, 2));
  const insert = database.prepare(
    `insert into transactions (id, relayer_id, network_type, lane, status, created_at, confirmed_at, request, fields, is_canceled)
     values (?, 'r', 'evm', 'l', ?, 100, ?, '{}', '{}', 0)`,
  );
  insert.run('confirmed', 'confirmed', 200);
  insert.run('failed', 'failed', null);
  insert.run('open', 'mined', null);
  await migrate(target, migrations);
  const rows = database.prepare('select id, ended_at from transactions order by id').all();
  t.same(rows, [
    { id: 'confirmed', ended_at: 200 },
    { id: 'failed', ended_at: 100 },
    { id: 'open', ended_at: null },
  ]);
});
