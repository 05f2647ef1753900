import {
  type DatabaseConnection,
  type Dialect,
  type Kysely,
  PostgresAdapter,
  PostgresDialect,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely';
import pg from 'pg';
import { assertBindable } from '../connection.ts';

/** The object id of PostgreSQL's type `bigint`. */
const INT8 = 20;

/** A Kysely dialect over a pool of `pg`. It refuses values that the database would change. */
export function postgresDialect(pool: pg.Pool): PostgresDialect {
  return new StrictDialect({ pool });
}

/** The same over one connection. It begins and ends no transactions: the owner of the connection does. */
export function connectionDialect(connection: DatabaseConnection): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => ({
      init: async () => {},
      acquireConnection: async () => connection,
      beginTransaction: notHere,
      commitTransaction: notHere,
      rollbackTransaction: notHere,
      releaseConnection: async () => {},
      destroy: async () => {},
    }),
    createIntrospector: (db: Kysely<unknown>) => new PostgresIntrospector(db),
    createQueryCompiler: () => new StrictCompiler(),
  };
}

async function notHere(): Promise<never> {
  throw new Error('Transactions of the store begin with store.write');
}

class StrictDialect extends PostgresDialect {
  override createQueryCompiler(): PostgresQueryCompiler {
    return new StrictCompiler();
  }
}

class StrictCompiler extends PostgresQueryCompiler {
  protected override appendValue(parameter: unknown): void {
    super.appendValue(assertBindable(parameter));
  }
}

/** How a pool reads values: as `pg` does, except for 64-bit integers, which `pg` would return as text. */
export const typeParsers: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === INT8 ? parseInt8 : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};

/**
 * Reads a 64-bit integer. All of them in the schema are times and counts. One that a number cannot hold stays text,
 * which readers refuse.
 */
function parseInt8(text: string): number | string {
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : text;
}
