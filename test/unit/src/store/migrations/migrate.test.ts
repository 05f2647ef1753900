import { DatabaseSync } from 'node:sqlite';
import { Kysely, sql } from 'kysely';
import t, { type Test } from 'tap';

import { createLog } from '../../../../../src/observability/log.ts';
import { sqliteColumns } from '../../../../../src/store/column-types.ts';
import { migrate } from '../../../../../src/store/migrations/migrate.ts';
import { type Migration, migrations } from '../../../../../src/store/migrations/migrations.ts';
import type { Tables } from '../../../../../src/store/schema.ts';
import { sqliteDialect } from '../../../../../src/store/sqlite/sqlite-dialect.ts';
import { migratedDatabase } from '../../../../support/migration-stage.ts';

const step = (name: string, statement: string): Migration => ({
  name,
  async up(db) {
    await sql.raw(statement).execute(db);
  },
});
const first = step('first', 'create table things (id integer)');
const second = step('second', 'alter table things add column name text');

function emptyDatabase(t: Test) {
  const database = new DatabaseSync(':memory:');
  t.teardown(() => database.close());
  const db = new Kysely<Tables>({ dialect: sqliteDialect(database) });
  const columns = () => database.prepare("select name from pragma_table_info('things')").all().length;
  const version = () => database.prepare('select max(version) as version from migrations').get()?.['version'];
  const to = (...steps: Migration[]) =>
    migrate({ db, types: sqliteColumns, log: createLog('silent'), now: () => 5 }, steps);
  return { to, columns, version };
}

t.test('each step is taken once, from empty and from an older version', async (t) => {
  const { to, columns, version } = emptyDatabase(t);
  await to();
  t.equal(version(), null);
  await to(first);
  await to(first);
  t.strictSame([columns(), version()], [1, 1]);
  await to(first, second);
  t.strictSame([columns(), version()], [2, 2]);
});

t.test('a step that fails leaves what was before it', async (t) => {
  const { to, columns, version } = emptyDatabase(t);
  const broken: Migration = {
    name: 'second',
    async up(db, types) {
      await second.up(db, types);
      throw new Error('half-way');
    },
  };
  await t.rejects(to(first, broken), /half-way/);
  t.strictSame([columns(), version()], [1, 1]);
  await to(first, second);
  t.strictSame([columns(), version()], [2, 2]);
});

t.test('a newer or foreign database is not touched', async (t) => {
  const { to, version } = emptyDatabase(t);
  await to(first, second);
  await t.rejects(to(first), {
    message: /newer version \(schema 2, "second"\) than this Isolayer, which knows schema 1/,
  });
  await t.rejects(to(step('other', 'select 1'), second), { message: /was not made by this Isolayer/ });
  t.equal(version(), 2);
});

t.test('all steps can be taken, and each has its own name', async (t) => {
  const database = await migratedDatabase(t);
  const taken = database.prepare('select name from migrations order by version').all();
  t.strictSame(
    taken.map(({ name }) => name),
    migrations.map(({ name }) => name),
  );
  t.equal(new Set(taken.map(({ name }) => name)).size, migrations.length);
});

t.test('columns of SQLite hold their type only, and the rising one rises', async (t) => {
  const database = new DatabaseSync(':memory:');
  t.teardown(() => database.close());
  await new Kysely({ dialect: sqliteDialect(database) }).schema
    .createTable('things')
    .addColumn('place', sqliteColumns.rising, (column) => column.primaryKey())
    .addColumn('name', sqliteColumns.text)
    .addColumn('size', sqliteColumns.integer)
    .modifyEnd(sqliteColumns.table)
    .execute();
  const insert = database.prepare('insert into things (name, size) values (?, ?)');
  insert.run('a', 2 ** 40);
  insert.run('B', 1);
  t.throws(() => insert.run('c', 'large'), /cannot store TEXT value in INTEGER column/);
  t.throws(() => insert.run('c', 1.5), /cannot store REAL value in INTEGER column/);
  t.strictSame(
    database
      .prepare('select place, name from things order by name')
      .all()
      .map((row) => ({ ...row })),
    [
      { place: 2, name: 'B' },
      { place: 1, name: 'a' },
    ],
  );
});
