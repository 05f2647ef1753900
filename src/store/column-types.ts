import { type RawBuilder, sql } from 'kysely';

/** How a database declares what the tables of `schema.ts` need; the only words of SQL that differ. */
export interface ColumnTypes {
  /** Compared and ordered by bytes, whatever the database's locale. */
  text: RawBuilder<unknown>;
  /** 64 bits. */
  integer: RawBuilder<unknown>;
  /** A 64-bit integer that the database assigns, higher than those before it. */
  rising: RawBuilder<unknown>;
  /** A 64-bit integer that the database assigns: rows of one write have the same, later begun writes a higher one. */
  ofWrite: RawBuilder<unknown>;
  /** Ends a table's declaration. */
  table: RawBuilder<unknown>;
  /** Begins the declaration of a table that may be empty after a crash, which makes writing to it cheaper. */
  forgettable: RawBuilder<unknown>;
}

/** SQLite: without `strict` a column takes a value of any type. */
export const sqliteColumns: ColumnTypes = {
  text: sql`text`,
  integer: sql`integer`,
  rising: sql`integer`,
  // One write at a time: what a row is called already says where its write stands.
  ofWrite: sql`integer not null default 0`,
  table: sql`strict`,
  forgettable: sql``,
};

export const postgresColumns: ColumnTypes = {
  text: sql`text collate "C"`,
  integer: sql`bigint`,
  rising: sql`bigint generated always as identity`,
  ofWrite: sql`bigint not null default (pg_current_xact_id()::text::bigint)`,
  table: sql``,
  forgettable: sql`unlogged`,
};
