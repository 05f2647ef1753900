import type { Compilable, CompiledQuery } from 'kysely';
import { assertBindable, type Connection } from './connection.ts';

/** The type of a value that replaces a mark. Both databases store such values unchanged. */
type Parameter = string | number;

/** A compiled query and, for each of its parameters, the index of the argument; undefined for a constant. */
interface Plan<Row> {
  query: CompiledQuery<Row>;
  argumentOf: readonly (number | undefined)[];
}

/**
 * Makes a query that is built and compiled at its first use, and afterwards only bound. Building a query takes longer
 * than SQLite takes to answer it. `build` gets marks, which it may only pass on as values of its query.
 */
export function preparedQuery<Parameters extends readonly Parameter[], Row>(
  connection: Pick<Connection, 'run'>,
  build: (...marks: Parameters) => Compilable<Row>,
): (...values: Parameters) => Promise<Row[]> {
  let plan: Plan<Row> | undefined;
  return async (...values) => {
    plan ??= planOf(build.length, (marks) => build(...(marks as readonly Parameter[] as Parameters)));
    const result = connection.run(bound(plan, values));
    return (result instanceof Promise ? await result : result).rows;
  };
}

/** How many rows are remembered of each read. */
const MAX_REMEMBERED = 1_000;

/**
 * Remembers what a read found until the next write, where this process is the only one that writes. Clients ask for the
 * same things again and again. Callers must not change what was found. What is remembered is returned at once.
 * @param sizeOf how many rows were found
 */
export function rememberedRead<Parameters extends readonly (Parameter | undefined)[], Found>(
  { version }: Pick<Connection, 'version'>,
  read: (...values: Parameters) => Promise<Found>,
  sizeOf: (found: Found) => number,
): (...values: Parameters) => Found | Promise<Found> {
  if (version === undefined) return read;
  const known = new Map<string, Found>();
  let size = 0;
  let knownAt = version();
  return (...values) => {
    // Texts with NUL are found nowhere.
    const key = values.join('\0');
    const now = version();
    if (now !== knownAt || size > MAX_REMEMBERED) {
      known.clear();
      size = 0;
      knownAt = now;
    }
    return known.get(key) ?? readAnew(key, values, now);
  };

  async function readAnew(key: string, values: Parameters, now: number): Promise<Found> {
    const fresh = await read(...values);
    // A write in between may have changed it.
    if (version?.() === now && knownAt === now) {
      known.set(key, fresh);
      size += 1 + sizeOf(fresh);
    }
    return fresh;
  }
}

/** The longest list of one query. Both databases limit the parameters of a statement (32,766 and 65,535). */
const MAX_LIST = 1024;

/**
 * The same for a query with a list of values. A list is filled up to a power of two with its first value, so that few
 * queries are compiled. A long list takes several queries, and an empty one takes none.
 */
export function preparedListQuery<Row>(
  connection: Pick<Connection, 'run'>,
  build: (marks: string[]) => Compilable<Row>,
): (values: readonly string[]) => Promise<Row[]> {
  const plans = new Map<number, Plan<Row>>();
  return async (values) => {
    const rows: Row[] = [];
    for (let start = 0; start < values.length; start += MAX_LIST) {
      const part = values.slice(start, start + MAX_LIST);
      const count = 2 ** Math.ceil(Math.log2(part.length));
      const plan = plans.get(count) ?? planOf(count, (marks) => build([...marks]));
      plans.set(count, plan);
      const result = connection.run(bound(plan, [...part, ...Array(count - part.length).fill(part[0])]));
      rows.push(...(result instanceof Promise ? await result : result).rows);
    }
    return rows;
  };
}

/**
 * The same for a write of columns. The query is compiled once for each set of columns. `build` also gets marks for the
 * values of the columns.
 * @returns how many rows were written
 */
export function preparedWrite<Columns extends object, Parameters extends readonly Parameter[]>(
  connection: Pick<Connection, 'run'>,
  build: (columns: Columns, ...marks: Parameters) => Compilable<unknown>,
): (columns: Columns, ...values: Parameters) => Promise<number> {
  const plans = new Map<string, Plan<unknown>>();
  return async (columns, ...values) => {
    const names = Object.keys(columns);
    const key = names.join();
    let plan = plans.get(key);
    if (plan === undefined) {
      plan = planOf(names.length + values.length, (marks) => {
        const marked = Object.fromEntries(names.map((name, at) => [name, marks[at]])) as Columns;
        return build(marked, ...(marks.slice(names.length) as readonly Parameter[] as Parameters));
      });
      plans.set(key, plan);
    }
    const result = connection.run(bound(plan, [...Object.values(columns), ...values]));
    return Number((result instanceof Promise ? await result : result).numAffectedRows ?? 0);
  };
}

function bound<Row>({ query, argumentOf }: Plan<Row>, values: readonly unknown[]): CompiledQuery<Row> {
  const parameters = argumentOf.map((argument, at) =>
    argument === undefined ? query.parameters[at] : assertBindable(values[argument]),
  );
  return { ...query, parameters };
}

/** @throws Error when an argument is not a parameter of the query: every call would then get the first call's answer */
function planOf<Row>(count: number, build: (marks: readonly string[]) => Compilable<Row>): Plan<Row> {
  // Marks begin with NUL. Stored texts never contain NUL, so no constant of a query is mistaken for a mark.
  const marks = Array.from({ length: count }, (_, argument) => `\0${argument}`);
  const query = build(marks).compile();
  const argumentOf = query.parameters.map((parameter) => {
    const argument = marks.findIndex((mark) => mark === parameter);
    return argument === -1 ? undefined : argument;
  });
  const missing = marks.findIndex((_, argument) => !argumentOf.includes(argument));
  if (missing !== -1) throw new Error(`Parameter ${missing} of a prepared query is none of its values: ${query.sql}`);
  return { query, argumentOf };
}
