import { setTimeout as delay } from 'node:timers/promises';
import { Kysely } from 'kysely';
import t from 'tap';
import { createLog } from '../../../../../src/observability/log.ts';
import { openPostgresStore } from '../../../../../src/store/postgres/postgres.ts';
import { postgresDialect, typeParsers } from '../../../../../src/store/postgres/postgres-dialect.ts';
import { PostgresInstances } from '../../../../../src/store/postgres/postgres-instances.ts';
import type { Tables } from '../../../../../src/store/schema.ts';
import { startPostgres } from '../../../../support/postgres.ts';
import { PostgresPool } from '../../../../support/postgres-pool.ts';

const postgres = await startPostgres();
t.teardown(() => postgres.stop());

t.test('each hears what the others that are there said last', async (t) => {
  const url = await postgres.createDatabase();
  await (await openPostgresStore({ url, log: createLog('silent') })).close();
  const db = new Kysely<Tables>({
    dialect: postgresDialect(new PostgresPool({ connectionString: url, types: typeParsers })),
  });
  t.teardown(() => db.destroy());
  const [one, two] = [new PostgresInstances(db, 'one', 60_000), new PostgresInstances(db, 'two', 60_000)];
  t.strictSame(await one.say(['r1', 'r2']), [], 'it does not hear itself');
  t.strictSame(await two.say([]), [new Set(['r1', 'r2'])]);
  t.strictSame(await one.say(['r2']), [new Set()]);
  t.strictSame(await two.say(['r1']), [new Set(['r2'])]);
  await one.leave();
  await one.leave();
  t.strictSame(await two.say([]), []);

  await one.say([]);
  const hasty = new PostgresInstances(db, 'hasty', 50);
  while ((await hasty.say([])).length > 0) await delay(20);
  await db.updateTable('instances').set({ said_at: 1 }).where('id', '!=', 'hasty').execute();
  await hasty.say([]);
  const left = await db.selectFrom('instances').select('id').execute();
  t.strictSame(left, [{ id: 'hasty' }], 'who is long gone is taken away');
});
