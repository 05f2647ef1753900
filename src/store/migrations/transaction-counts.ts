import { type Kysely, sql } from 'kysely';
import type { ColumnTypes } from '../column-types.ts';
import type { Tables } from '../schema.ts';

const isCanceled = (row: string) => `case when ${row}.noop_end = 'canceled' then 1 else 0 end`;
const keyOf = (row: string) => `${row}.relayer_id, ${row}.status, ${isCanceled(row)}`;

const added = `insert into transaction_counts (relayer_id, status, is_canceled, writer, count)
      values (${keyOf('new')}, 0, 1)
      on conflict (relayer_id, status, is_canceled, writer) do update set count = count + 1`;
const removed = `update transaction_counts set count = count - 1
      where (relayer_id, status, is_canceled, writer) = (${keyOf('old')}, 0)`;

const SQLITE_TRIGGERS: Readonly<Record<string, string>> = {
  transactions_inserted: `after insert on transactions begin ${added}; end`,
  transactions_updated: `after update of status, noop_end on transactions
    when old.status <> new.status or ${isCanceled('old')} <> ${isCanceled('new')} begin ${removed}; ${added}; end`,
  transactions_deleted: `after delete on transactions begin ${removed}; end`,
};

/** The text of one of our triggers in SQLite's own words; undefined for any other name. */
export function sqliteTrigger(name: string): string | undefined {
  return Object.hasOwn(SQLITE_TRIGGERS, name) ? `CREATE TRIGGER ${name} ${SQLITE_TRIGGERS[name]}` : undefined;
}

/**
 * Each connection has counts of its own, which nobody else writes at the time. With common ones, writes that run at the
 * same time would collide. The transition tables have the rows of one statement, so many rows cost one change.
 */
const postgresFunction = sql`create function count_transactions() returns trigger
  language plpgsql set search_path from current as $$
  begin
    if tg_op = 'INSERT' then
      insert into transaction_counts as known (relayer_id, status, is_canceled, writer, count)
        select ${sql.raw(keyOf('added'))}, pg_backend_pid(), count(*) from added group by 1, 2, 3 order by 1, 2, 3
        on conflict (relayer_id, status, is_canceled, writer) do update set count = known.count + excluded.count;
    elsif tg_op = 'DELETE' then
      insert into transaction_counts as known (relayer_id, status, is_canceled, writer, count)
        select ${sql.raw(keyOf('removed'))}, pg_backend_pid(), -count(*) from removed group by 1, 2, 3 order by 1, 2, 3
        on conflict (relayer_id, status, is_canceled, writer) do update set count = known.count + excluded.count;
    else
      insert into transaction_counts as known (relayer_id, status, is_canceled, writer, count)
        select relayer_id, status, is_canceled, pg_backend_pid(), sum(change) from (
          select ${sql.raw(keyOf('added'))}, 1 from added
          union all select ${sql.raw(keyOf('removed'))}, -1 from removed
        ) as moved (relayer_id, status, is_canceled, change)
        group by 1, 2, 3 having sum(change) <> 0 order by 1, 2, 3
        on conflict (relayer_id, status, is_canceled, writer) do update set count = known.count + excluded.count;
    end if;
    return null;
  end $$`;

const postgresTriggers = [
  sql`create trigger transactions_inserted after insert on transactions referencing new table as added
    for each statement execute function count_transactions()`,
  sql`create trigger transactions_updated after update on transactions
    referencing old table as removed new table as added for each statement execute function count_transactions()`,
  sql`create trigger transactions_deleted after delete on transactions referencing old table as removed
    for each statement execute function count_transactions()`,
];

/** Counts the transactions of each relayer as they change, so that no list and no metric has to count them. */
export async function transactionCounts(
  db: Kysely<Tables>,
  { text, integer, table, clearedOften, ofDatabase }: ColumnTypes,
): Promise<void> {
  const statements = [
    sql`create table transaction_counts (
      relayer_id ${text} not null, status ${text} not null, is_canceled ${integer} not null,
      writer ${integer} not null, count ${integer} not null, primary key (relayer_id, status, is_canceled, writer)
    ) ${table}`,
    ...clearedOften('transaction_counts'),
    // The triggers come first: nobody writes any more until this step has ended.
    ...ofDatabase({
      sqlite: Object.keys(SQLITE_TRIGGERS).map((name) => sql.raw(sqliteTrigger(name) ?? '')),
      postgres: [postgresFunction, ...postgresTriggers],
    }),
    sql`insert into transaction_counts
      select ${sql.raw(keyOf('transactions'))}, 0, count(*) from transactions group by 1, 2, 3`,
  ];
  for (const statement of statements) await statement.execute(db);
}
