import { DatabaseSync } from 'node:sqlite';
import { Kysely, sql } from 'kysely';
import type { Test } from 'tap';
import { createLog } from '../../src/observability/log.ts';
import { sqliteColumns } from '../../src/store/column-types.ts';
import { migrate } from '../../src/store/migrations/migrate.ts';
import { type Migration, migrations } from '../../src/store/migrations/migrations.ts';
import { createReader } from '../../src/store/queries.ts';
import type { Tables } from '../../src/store/schema.ts';
import { sqliteDialect } from '../../src/store/sqlite/sqlite-dialect.ts';
import type { Reader } from '../../src/store/store.ts';

/** An embedded database as it was before a step of the schema. */
export interface MigrationStage {
  database: DatabaseSync;
  read: Reader;
  /** Takes the step alone, and names the tables that it added. */
  take(): Promise<string[]>;
  /** Takes all steps that are left. */
  takeAll(): Promise<void>;
}

export async function beforeStep(t: Test, up: Migration['up']): Promise<MigrationStage> {
  const step = migrations.findIndex((migration) => migration.up === up);
  if (step < 0) throw new Error('no such step');
  const database = new DatabaseSync(':memory:');
  t.teardown(() => database.close());
  const db = new Kysely<Tables>({ dialect: sqliteDialect(database) });
  const target = { db, types: sqliteColumns, log: createLog('silent'), now: () => 5 };
  const tables = () =>
    database
      .prepare("select name from sqlite_schema where type = 'table' order by name")
      .all()
      .map(({ name }) => String(name));
  await migrate(target, migrations.slice(0, step));
  return {
    database,
    read: createReader({ db, run: (query) => db.executeQuery(query), now: () => sql`5`, settledWrites: () => sql`1` }),
    async take() {
      const before = tables();
      await migrate(target, migrations.slice(0, step + 1));
      return tables().filter((name) => !before.includes(name));
    },
    takeAll: () => migrate(target, migrations),
  };
}
