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
import { dateSettlements } from '../../../../src/store/settled-column.ts';
import { sqliteDialect } from '../../../../src/store/sqlite-dialect.ts';

t.test('what was pruned before there was a time of it counts as settled long ago', async (t) => {
  const database = new DatabaseSync(':memory:');
  t.teardown(() => database.close());
  const db = new Kysely<Tables>({ dialect: sqliteDialect(database) });
  const target = { db, types: sqliteColumns, log: createLog('silent'), now: () => 5 };
  const step = migrations.findIndex(({ up }) => up === dateSettlements);
  await migrate(target, migrations.slice(0, step));
  database.prepare('insert into lane_sequences (lane, sequence) values (?, ?)').run('l', sequenceText(6n));
  await migrate(target, migrations);
  t.same(database.prepare('select settled_at from lane_sequences').all(), [{ settled_at: null }]);
  const read = createReader({ db, now: () => sql`5` });
  t.same(await read.settled('l'), { sequence: 7n, at: 0 });
});
