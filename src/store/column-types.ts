import { type RawBuilder, sql } from 'kysely';

/**
 * How a database declares the columns of the tables in `schema.ts`: the only SQL that differs between the databases.
 */
export interface ColumnTypes {
  /** Compared and ordered by bytes, whatever the database's locale. */
  text: RawBuilder<unknown>;
  /** 64 bits. */
  integer: RawBuilder<unknown>;
  /** A 64-bit integer that the database assigns. Each is higher than the ones before. */
  rising: RawBuilder<unknown>;
  /**
   * A 64-bit integer that the database assigns. Rows of one write have the same number; a write that begins later has a
   * higher one.
   */
  ofWrite: RawBuilder<unknown>;
  /** Ends a table's declaration. */
  table: RawBuilder<unknown>;
  /** Begins the declaration of a table that may be empty after a crash. This makes writes to it cheaper. */
  forgettable: RawBuilder<unknown>;
  /** Statements that have the rows that writes leave behind cleared away often; none where nothing is left. */
  clearedOften(table: string): RawBuilder<unknown>[];
  /** The statements for this database. */
  ofDatabase(statements: Record<'sqlite' | 'postgres', RawBuilder<unknown>[]>): RawBuilder<unknown>[];
}

/** SQLite: without `strict` a column takes a value of any type. */
export const sqliteColumns: ColumnTypes = {
  text: sql`text`,
  integer: sql`integer`,
  rising: sql`integer`,
  // Always 0: SQLite runs one write at a time, so the row's own number already gives the order of writes.
  ofWrite: sql`integer not null default 0`,
  table: sql`strict`,
  forgettable: sql``,
  clearedOften: () => [],
  ofDatabase: ({ sqlite }) => sqlite,
};

export const postgresColumns: ColumnTypes = {
  text: sql`text collate "C"`,
  integer: sql`bigint`,
  rising: sql`bigint generated always as identity`,
  ofWrite: sql`bigint not null default (pg_current_xact_id()::text::bigint)`,
  table: sql``,
  forgettable: sql`unlogged`,
  // By default a fifth of the table is left behind first. A table with a long history then has millions of dead rows,
  // which the indexes of open ones lead to: https://www.postgresql.org/docs/current/routine-vacuuming.html
  clearedOften: (table) => [
    sql`alter table ${sql.table(table)} set (
      autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000,
      autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_cost_limit = 2000
    )`,
  ],
  ofDatabase: ({ postgres }) => postgres,
};
