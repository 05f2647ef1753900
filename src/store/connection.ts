import type { CompiledQuery, Kysely, QueryResult, RawBuilder } from 'kysely';
import type { Tables } from './schema.ts';
import type { Sealer } from './sealing.ts';

/** The parts of a database that queries need. */
export interface Connection {
  db: Kysely<Tables>;
  /**
   * Runs a compiled query, under the same rules as queries of `db`. SQLite answers at once, unless a write body pauses:
   * a promise takes longer than many a statement.
   */
  run: <Row>(query: CompiledQuery<Row>) => QueryResult<Row> | Promise<QueryResult<Row>>;
  /**
   * An SQL expression for the database's time, in milliseconds. Within a write body the time does not change. Never a
   * value.
   */
  now: () => RawBuilder<number>;
  /**
   * An SQL expression for a bound on the counter `ofWrite`: every write below the bound has ended, and its committed
   * rows are visible. Never a value.
   */
  settledWrites: () => RawBuilder<number>;
  /**
   * Changes whenever reads may find something else than before. Absent where others write too, and inside a write body.
   */
  version?: () => number;
  /** Whether other writers may write at the same time. If so, a body must lock what it read until its commit. */
  hasOtherWriters?: boolean;
  /** Absent in a store that keeps no secrets. */
  sealer?: Sealer | undefined;
}

/** @throws Error when the store was opened without a sealer */
export function sealerOf({ sealer }: Connection): Sealer {
  if (sealer === undefined) throw new Error('This store was opened without a key to seal secrets with');
  return sealer;
}

/** Values that both databases store unchanged: text, null, and integers that a number holds exactly. */
type Bindable = string | number | null;

/**
 * Refuses a parameter that a driver would silently change: one driver turns a Date or NaN into NULL, one turns 2^53 + 1
 * into 2^53.
 * @throws TypeError
 */
export function assertBindable(value: unknown): Bindable {
  if (value === null || typeof value === 'string') return value;
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
  const what = typeof value === 'number' ? String(value) : Object.prototype.toString.call(value);
  throw new TypeError(`${what} cannot be stored as it is`);
}
