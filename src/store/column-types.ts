import { type RawBuilder, sql } from 'kysely';

/** How a database declares what the tables of `schema.ts` need; the only words of SQL that differ. */
export interface ColumnTypes {
  /** Compared and ordered by bytes, whatever the database's locale. */
  text: RawBuilder<unknown>;
  /** 64 bits. */
  integer: RawBuilder<unknown>;
  /** A 64-bit integer that the database assigns, higher than those before it. */
  rising: RawBuilder<unknown>;
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
  table: sql`strict`,
  forgettable: sql``,
};

export const postgresColumns: ColumnTypes = {
  text: sql`text collate "C"`,
  integer: sql`bigint`,
  rising: sql`bigint generated always as identity`,
  table: sql``,
  forgettable: sql`unlogged`,
};
