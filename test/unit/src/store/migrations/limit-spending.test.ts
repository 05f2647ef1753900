import { DatabaseSync } from 'node:sqlite';
import { Kysely } from 'kysely';
import t from 'tap';
import { sqliteColumns } from '../../../../../src/store/column-types.ts';
import { limitSpending } from '../../../../../src/store/migrations/limit-spending.ts';
import type { Tables } from '../../../../../src/store/schema.ts';
import { sqliteDialect } from '../../../../../src/store/sqlite-dialect.ts';

t.test('a transaction counts once, and a budget is there once', async (t) => {
  const database = new DatabaseSync(':memory:');
  t.teardown(() => database.close());
  await limitSpending(new Kysely<Tables>({ dialect: sqliteDialect(database) }), sqliteColumns);
  const budget = database.prepare(
    `insert into budgets (plugin_id, relayer_id, value, fee) values ('p', 'r', '1', '2')`,
  );
  const row = database.prepare(
    `insert into spending (transaction_id, plugin_id, relayer_id, value, fee) values ('t', 'p', 'r', '1', '2')`,
  );
  for (const insert of [budget, row]) {
    insert.run();
    t.throws(() => insert.run(), /UNIQUE constraint failed/);
  }
});

t.test('what has ended, and what sums do not know yet, is found along an index', async (t) => {
  const database = new DatabaseSync(':memory:');
  t.teardown(() => database.close());
  await limitSpending(new Kysely<Tables>({ dialect: sqliteDialect(database) }), sqliteColumns);
  const plan = (condition: string) =>
    JSON.stringify(
      database
        .prepare(
          `explain query plan select value from spending where plugin_id = 'p' and relayer_id = 'r' and ${condition}`,
        )
        .all(),
    );
  t.match(plan('settled_at < 5'), 'spending_settled');
  t.match(plan('spent_value is not null'), 'spending_unfolded');
});
