import type { CompiledQuery, Kysely, QueryResult, RawBuilder } from 'kysely';
import type { Tables } from './schema.ts';
import type { Sealer } from './sealing.ts';

/** What the queries need of a database. */
export interface Connection {
  db: Kysely<Tables>;
  /** Runs a query that is compiled already; what holds for queries of `db` holds for it. */
  run: <Row>(query: CompiledQuery<Row>) => Promise<QueryResult<Row>>;
  /** The time as an expression of the database's, in milliseconds; within a write body it stands still. Never a value. */
  now: () => RawBuilder<number>;
  /** Of what `ofWrite` counts: every write below it has ended, and what was kept of it is seen. Never a value. */
  settledWrites: () => RawBuilder<number>;
  /** Whether others may write meanwhile, so that what a body read has to be held until its commit. */
  hasOtherWriters?: boolean;
  /** Absent in a store that keeps no secrets. */
  sealer?: Sealer | undefined;
}

/** @throws Error when the store was opened without a sealer */
export function sealerOf({ sealer }: Connection): Sealer {
  if (sealer === undefined) throw new Error('This store was opened without a key to seal secrets with');
  return sealer;
}
