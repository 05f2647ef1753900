import { DatabaseSync } from 'node:sqlite';
import { Kysely } from 'kysely';
import type { Test } from 'tap';
import { createLog } from '../../src/observability/log.ts';
import { sqliteColumns } from '../../src/store/column-types.ts';
import { migrate } from '../../src/store/migrations/migrate.ts';
import { migrations } from '../../src/store/migrations/migrations.ts';
import type { Tables } from '../../src/store/schema.ts';
import { sqliteDialect } from '../../src/store/sqlite/sqlite-dialect.ts';

/** An embedded database that has taken all steps of the schema. */
export async function migratedDatabase(t: Test): Promise<DatabaseSync> {
  const database = new DatabaseSync(':memory:');
  t.teardown(() => database.close());
  const db = new Kysely<Tables>({ dialect: sqliteDialect(database) });
  await migrate({ db, types: sqliteColumns, log: createLog('silent'), now: () => 5 }, migrations);
  return database;
}

/** The names of its tables, in order. */
export function tablesOf(database: DatabaseSync): string[] {
  const rows = database.prepare("select name from sqlite_schema where type = 'table' order by name").all();
  return rows.map(({ name }) => String(name));
}
