import { DatabaseSync } from 'node:sqlite';
import { Kysely, sql } from 'kysely';
import t from 'tap';
import { createLog } from '../../../../src/observability/log.ts';
import { sqliteColumns } from '../../../../src/store/column-types.ts';
import { migrate } from '../../../../src/store/migrate.ts';
import { migrations } from '../../../../src/store/migrations.ts';
import { createReader } from '../../../../src/store/queries.ts';
import type { Tables } from '../../../../src/store/schema.ts';
import { sequenceText } from '../../../../src/store/sequence-text.ts';
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
      'intents',
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

t.test('versions that were signed before they kept their content have that of their transaction', async (t) => {
  const database = new DatabaseSync(':memory:');
  t.teardown(() => database.close());
  const db = new Kysely<Tables>({ dialect: sqliteDialect(database) });
  const target = { db, types: sqliteColumns, log: createLog('silent'), now: () => 5 };
  const step = migrations.findIndex(({ name }) => name === 'replace and cancel');
  t.ok(step > 0);
  await migrate(target, migrations.slice(0, step));
  const transaction = database.prepare(
    `insert into transactions (id, relayer_id, network_type, lane, status, created_at, sequence, request, fields, is_canceled)
     values (?, 'r', 'evm', 'l', 'submitted', 100, ?, ?, ?, 0)`,
  );
  const attempt = database.prepare(
    `insert into attempts (transaction_id, ordinal, lane, sequence, raw, hash, created_at) values (?, ?, 'l', ?, '0x', ?, 100)`,
  );
  const [one, two] = [0n, 1n].map(sequenceText);
  transaction.run('a', String(one), '{"value":"0x1"}', '{"price":"7"}');
  transaction.run('b', String(two), '{"value":"0x2"}', '{}');
  attempt.run('a', 1, String(one), '0x1');
  attempt.run('a', 2, String(one), '0x2');
  attempt.run('b', 1, String(two), '0x3');
  await migrate(target, migrations);

  const read = createReader({ db, now: () => sql`5` });
  const entries = await read.openTransactions('l');
  t.strictSame(
    entries.map(({ transaction: { id, voidAs }, attempts }) => [
      id,
      voidAs,
      ...attempts.map(({ purpose, request, fields }) => [purpose, request['value'], fields['price']]),
    ]),
    [
      ['a', null, ['send', '0x1', '7'], ['send', '0x1', '7']],
      ['b', null, ['send', '0x2', undefined]],
    ],
  );
  t.equal((await read.transactionBySequence('r', 1n))?.id, 'b');
  t.strictSame(await read.decisions('a', 10), []);
  t.strictSame(await read.wishes('a', 10), []);
});
