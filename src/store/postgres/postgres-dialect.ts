import { PostgresDialect, PostgresQueryCompiler } from 'kysely';
import pg from 'pg';
import { bindable } from '../bindable.ts';

/** The object id of PostgreSQL's type `bigint`. */
const INT8 = 20;

/** Kysely over a pool of `pg`, strict about what it stores. */
export function postgresDialect(pool: pg.Pool): PostgresDialect {
  return new StrictDialect({ pool });
}

class StrictDialect extends PostgresDialect {
  override createQueryCompiler(): PostgresQueryCompiler {
    return new StrictCompiler();
  }
}

class StrictCompiler extends PostgresQueryCompiler {
  protected override appendValue(parameter: unknown): void {
    super.appendValue(bindable(parameter));
  }
}

/** How a pool reads values: as `pg` does, but for 64-bit integers, which it would hand out as text. */
export const typeParsers: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === INT8 ? parseInt8 : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};

/** All 64-bit integers of the schema are times and counts; one that a number cannot hold stays text, and is refused. */
function parseInt8(text: string): number | string {
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : text;
}
