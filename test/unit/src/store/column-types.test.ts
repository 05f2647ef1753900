import { DatabaseSync } from 'node:sqlite';
import { Kysely } from 'kysely';
import t from 'tap';
import { sqliteColumns } from '../../../../src/store/column-types.ts';
import { sqliteDialect } from '../../../../src/store/sqlite/sqlite-dialect.ts';

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
