import { DatabaseSync } from 'node:sqlite';
import { Kysely, sql } from 'kysely';
import t, { type Test } from 'tap';
import { createLog } from '../../../../../src/observability/log.ts';
import { sqliteColumns } from '../../../../../src/store/column-types.ts';
import { migrate } from '../../../../../src/store/migrations/migrate.ts';
import type { Migration } from '../../../../../src/store/migrations/migrations.ts';
import type { Tables } from '../../../../../src/store/schema.ts';
import { sqliteDialect } from '../../../../../src/store/sqlite/sqlite-dialect.ts';

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
