/** A page of a long list is correct, and no query for it passes over more than one stride of the list. */
import { DatabaseSync } from 'node:sqlite';
import { type CompiledQuery, Kysely, sql } from 'kysely';
import t from 'tap';
import type { TransactionStatus } from '../../../../../../src/domain/transaction/transaction-state.ts';
import { createLog } from '../../../../../../src/observability/log.ts';
import { sqliteColumns } from '../../../../../../src/store/column-types.ts';
import { migrate } from '../../../../../../src/store/migrations/migrate.ts';
import { migrations } from '../../../../../../src/store/migrations/migrations.ts';
import type { Tables } from '../../../../../../src/store/schema.ts';
import { sqliteDialect } from '../../../../../../src/store/sqlite/sqlite-dialect.ts';
import { transactionList } from '../../../../../../src/store/tables/lists/transaction-list.ts';
import { SameRows } from '../../../../../../src/store/tables/same-rows.ts';
import { transactionOfRow } from '../../../../../../src/store/tables/transaction-record.ts';

const COUNT = 25_000;

/**
 * The last ten are open, one of them canceled. Of the others every fiftieth failed. Three were created at each moment.
 */
const FILL = `with recursive n(i) as (select 0 union all select i + 1 from n where i < ${COUNT - 1})
  insert into transactions (id, relayer_id, revision, network_type, lane, status, created_at, request, fields,
    anchor_kind, on_death, noop_end, next_action_at)
  select printf('t%05d', i), 'r1', i, 'evm', 'l',
    case when i >= ${COUNT - 10} then 'submitted' when i % 50 = 0 then 'failed' else 'confirmed' end,
    1700000000000 + i / 3, '{}', '{}', 'sequence', 'end',
    case when i = ${COUNT - 1} then 'canceled' end, case when i >= ${COUNT - 10} then 5 end from n`;

t.test('pages from everywhere in the list', async (t) => {
  const database = new DatabaseSync(':memory:');
  t.teardown(() => database.close());
  const plans = new Set<string>();
  const db = new Kysely<Tables>({ dialect: sqliteDialect(database) });
  await migrate({ db, types: sqliteColumns, log: createLog('silent'), now: () => 5 }, migrations);
  database.exec(FILL);
  const explained = new Kysely<Tables>({
    dialect: sqliteDialect(database),
    log: ({ query }) => {
      const steps = database.prepare(`explain query plan ${query.sql}`).all(...(query.parameters as string[]));
      for (const { detail } of steps) plans.add(String(detail));
    },
  });
  const run = <Row>(query: CompiledQuery<Row>) => explained.executeQuery(query);
  const connection = { db: explained, run, now: () => sql<number>`5`, settledWrites: () => sql<number>`1` };
  const list = transactionList(connection, new SameRows(transactionOfRow));

  const idsOf = (where: string) =>
    database
      .prepare(`select id from transactions where ${where} order by created_at desc, id desc`)
      .all()
      .map(({ id }) => String(id));
  for (const [status, where] of [
    [undefined, `relayer_id = 'r1'`],
    ['confirmed', `status = 'confirmed'`],
    ['failed', `status = 'failed'`],
    ['submitted', `status = 'submitted' and noop_end is null`],
    ['pending', 'false'],
  ] as [TransactionStatus | undefined, string][]) {
    const all = idsOf(where);
    for (const page of [1, 2, 199, 200, 201, 202, 400, 401, 490, 500, 501, 100_000]) {
      const perPage = 50;
      const { items, total } = await list('r1', { page, perPage }, status);
      const expected = all.slice((page - 1) * perPage, page * perPage);
      t.strictSame([items.map(({ id }) => id), total], [expected, all.length], `page ${page} of ${status ?? 'all'}`);
    }
  }
  for (const plan of plans) {
    t.match(plan, /^(SEARCH transactions USING|CO-ROUTINE|SCAN \(?some|SCAN \(subquery)/, plan);
    t.notMatch(plan, /TEMP B-TREE/, plan);
  }
});
