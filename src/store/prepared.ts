import type { Compilable, CompiledQuery } from 'kysely';
import type { Connection } from './connection.ts';

/** What takes the place of a mark; both databases keep it as it is. */
type Parameter = string | number;

/** A compiled query, and for each of its parameters the argument that it is; none for a constant. */
interface Plan<Row> {
  query: CompiledQuery<Row>;
  argumentOf: readonly (number | undefined)[];
}

/**
 * A query that is built and compiled when it is first made, and only bound after that: building one takes longer than
 * SQLite takes to answer it. `build` gets marks, which it may only hand on as values of its query.
 */
export function prepared<Parameters extends readonly Parameter[], Row>(
  connection: Pick<Connection, 'rows'>,
  build: (...marks: Parameters) => Compilable<Row>,
): (...values: Parameters) => Promise<Row[]> {
  let plan: Plan<Row> | undefined;
  return (...values) => {
    plan ??= planOf(build);
    const { query, argumentOf } = plan;
    const parameters = argumentOf.map((argument, at) =>
      argument === undefined ? query.parameters[at] : values[argument],
    );
    return connection.rows({ ...query, parameters });
  };
}

/** @throws Error when a parameter is no value of the query, and every call would be answered as the first */
function planOf<Parameters extends readonly Parameter[], Row>(
  build: (...marks: Parameters) => Compilable<Row>,
): Plan<Row> {
  // No text that is ever stored has a NUL, so no constant of a query is taken for a mark.
  const marks = Array.from({ length: build.length }, (_, argument) => `\0${argument}`);
  const query = build(...(marks as readonly Parameter[] as Parameters)).compile();
  const argumentOf = query.parameters.map((parameter) => {
    const argument = marks.findIndex((mark) => mark === parameter);
    return argument === -1 ? undefined : argument;
  });
  const missing = marks.findIndex((_, argument) => !argumentOf.includes(argument));
  if (missing !== -1) throw new Error(`Parameter ${missing} of a prepared query is none of its values: ${query.sql}`);
  return { query, argumentOf };
}
