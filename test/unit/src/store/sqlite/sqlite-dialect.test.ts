import { DatabaseSync } from 'node:sqlite';
import { Kysely, sql } from 'kysely';
import t, { type Test } from 'tap';
import { sqliteDialect } from '../../../../../src/store/sqlite/sqlite-dialect.ts';

interface Things {
  things: { id: number; name: string | null };
}

function open(t: Test) {
  const database = new DatabaseSync(':memory:');
  t.teardown(() => database.close());
  database.exec('create table things (id integer primary key, name text) strict');
  return { database, db: new Kysely<Things>({ dialect: sqliteDialect(database) }) };
}

t.test('reads, writes and counts what it changed', async (t) => {
  const { db } = open(t);
  const inserted = await db
    .insertInto('things')
    .values([
      { id: 1, name: 'a' },
      { id: 2, name: null },
    ])
    .executeTakeFirstOrThrow();
  t.equal(inserted.numInsertedOrUpdatedRows, 2n);
  t.same(await db.selectFrom('things').selectAll().execute(), [
    { id: 1, name: 'a' },
    { id: 2, name: null },
  ]);
  const returned = await db.updateTable('things').set({ name: 'b' }).returning('id').execute();
  t.same(returned, [{ id: 1 }, { id: 2 }]);
});

t.test('rows have the columns that the table has now', async (t) => {
  const { db } = open(t);
  await db.insertInto('things').values({ id: 1, name: 'a' }).execute();
  const all = db.selectFrom('things').selectAll();
  t.same(await all.execute(), [{ id: 1, name: 'a' }]);
  await db.schema.alterTable('things').renameColumn('name', 'title').execute();
  t.same(await all.execute(), [{ id: 1, title: 'a' }]);
  await sql`alter table things add column size integer`.execute(db);
  t.same(await all.execute(), [{ id: 1, title: 'a', size: null }]);
});

t.test('a transaction is kept or undone', async (t) => {
  const { db, database } = open(t);
  await db.transaction().execute(async (inside) => {
    t.equal(database.isTransaction, true);
    await inside.insertInto('things').values({ id: 1, name: 'kept' }).execute();
  });
  await t.rejects(
    db.transaction().execute(async (inside) => {
      await inside.insertInto('things').values({ id: 2, name: 'undone' }).execute();
      throw new Error('no');
    }),
  );
  t.equal(database.isTransaction, false);
  t.same(await db.selectFrom('things').select('name').execute(), [{ name: 'kept' }]);
});

t.test('a value that would be stored as another is refused', async (t) => {
  const { db } = open(t);
  const insert = (name: unknown) =>
    db
      .insertInto('things')
      .values({ id: 1, name: name as string })
      .execute();
  for (const value of [new Date(), 2 ** 60, Number.NaN, true, 1n, {}]) await t.rejects(insert(value), TypeError);
  t.same(await db.selectFrom('things').selectAll().execute(), []);
});

t.test('many different statements, some again and again', async (t) => {
  const { db } = open(t);
  for (let index = 0; index < 600; index += 1) {
    const { rows } = await sql<{ n: number }>`select ${sql.lit(index)} as n`.execute(db);
    t.equal(rows[0]?.n, index);
    await db.selectFrom('things').selectAll().execute();
  }
});

t.test('it does not stream, and closes nothing that is not its own', async (t) => {
  const { db, database } = open(t);
  await t.rejects(db.selectFrom('things').selectAll().stream().next(), /does not stream/);
  await db.destroy();
  t.equal(database.isOpen, true);
});
