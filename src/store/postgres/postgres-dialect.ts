import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  PostgresDialect,
  PostgresDriver,
  PostgresQueryCompiler,
} from 'kysely';
import pg from 'pg';
import { assertBindable } from '../connection.ts';

/** The object id of PostgreSQL's type `bigint`. */
const INT8 = 20;

/**
 * A Kysely dialect over a pool of `pg`. It refuses values that the database would change.
 * @param commit how durable a transaction is, as a value of `synchronous_commit`; absent: as the connection says
 */
export function postgresDialect(pool: pg.Pool, commit?: string): PostgresDialect {
  return new StrictDialect(pool, commit);
}

class StrictDialect extends PostgresDialect {
  readonly #pool: pg.Pool;
  readonly #commit: string | undefined;

  constructor(pool: pg.Pool, commit: string | undefined) {
    super({ pool });
    this.#pool = pool;
    this.#commit = commit;
  }

  override createDriver(): Driver {
    return this.#commit === undefined ? super.createDriver() : new DurableDriver(this.#pool, this.#commit);
  }

  override createQueryCompiler(): PostgresQueryCompiler {
    return new StrictCompiler();
  }
}

/**
 * Sets the durability of each transaction in the message that begins it, so that it costs no round trip. A setting of
 * the connection would not hold behind a pooler that gives each transaction another connection.
 */
class DurableDriver extends PostgresDriver {
  readonly #commit: string;

  constructor(pool: pg.Pool, commit: string) {
    super({ pool });
    this.#commit = commit;
  }

  override async beginTransaction(
    connection: DatabaseConnection,
    { isolationLevel = 'read committed' }: Parameters<PostgresDriver['beginTransaction']>[1],
  ): Promise<void> {
    const begin = `start transaction isolation level ${isolationLevel}; set local synchronous_commit = ${this.#commit}`;
    await connection.executeQuery(CompiledQuery.raw(begin));
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
