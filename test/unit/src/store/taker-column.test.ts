import { DatabaseSync } from 'node:sqlite';
import { Kysely } from 'kysely';
import t from 'tap';
import { createLog } from '../../../../src/observability/log.ts';
import { sqliteColumns } from '../../../../src/store/column-types.ts';
import { migrate } from '../../../../src/store/migrate.ts';
import { migrations } from '../../../../src/store/migrations.ts';
import type { Tables } from '../../../../src/store/schema.ts';
import { sqliteDialect } from '../../../../src/store/sqlite-dialect.ts';
import { nameTakers } from '../../../../src/store/taker-column.ts';

t.test('versions that were accepted before have no taker', async (t) => {
  const database = new DatabaseSync(':memory:');
  t.teardown(() => database.close());
  const db = new Kysely<Tables>({ dialect: sqliteDialect(database) });
  const target = { db, types: sqliteColumns, log: createLog('silent'), now: () => 5 };
  const step = migrations.findIndex(({ up }) => up === nameTakers);
  await migrate(target, migrations.slice(0, step));
  database.exec(
    `pragma foreign_keys = off;
     insert into attempts (transaction_id, ordinal, lane, sequence, raw, hash, created_at, accepted_at)
     values ('t', 1, 'l', '0', '0x', '0x1', 100, 200)`,
  );
  await migrate(target, migrations);
  t.match(database.prepare('select accepted_at, accepted_by from attempts').all(), [
    { accepted_at: 200, accepted_by: null },
  ]);
});
