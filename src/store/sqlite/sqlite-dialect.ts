import type { DatabaseSync, StatementSync } from 'node:sqlite';
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import { assertBindable } from '../connection.ts';

/** How many prepared statements are kept: all distinct ones, with room for lists of different lengths. */
const STATEMENTS_KEPT = 256;

/**
 * A Kysely dialect over one open connection of `node:sqlite`. The caller opens and closes the connection.
 * @param statements the connection's statements, if other code also makes queries on it
 * @param assertAllowed throws when a query must not run now. Between a query and its run lie some turns of the microtask
 * queue, in which the write body that asked for it can have ended
 */
export function sqliteDialect(
  database: DatabaseSync,
  statements = new SqliteStatements(database),
  assertAllowed = () => {},
): Dialect {
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new SqliteDriver(database, statements, assertAllowed),
    createIntrospector: (db: Kysely<unknown>) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

class SqliteDriver implements Driver {
  readonly #database: DatabaseSync;
  readonly #connection: SqliteConnection;

  constructor(database: DatabaseSync, statements: SqliteStatements, assertAllowed: () => void) {
    this.#database = database;
    this.#connection = new SqliteConnection(statements, assertAllowed);
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    return this.#connection;
  }

  /** Uses `immediate`: otherwise a transaction that reads first and writes later could fail half-way. */
  async beginTransaction(): Promise<void> {
    this.#database.exec('begin immediate');
  }

  async commitTransaction(): Promise<void> {
    this.#database.exec('commit');
  }

  async rollbackTransaction(): Promise<void> {
    this.#database.exec('rollback');
  }

  async releaseConnection(): Promise<void> {}

  async destroy(): Promise<void> {}
}

class SqliteConnection implements DatabaseConnection {
  readonly #statements: SqliteStatements;
  readonly #assertAllowed: () => void;

  constructor(statements: SqliteStatements, assertAllowed: () => void) {
    this.#statements = statements;
    this.#assertAllowed = assertAllowed;
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    this.#assertAllowed();
    return this.#statements.run(query);
  }

  // oxlint-disable-next-line require-yield -- the interface asks for a generator
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('The store reads in pages; it does not stream');
  }
}

const CHANGES_SCHEMA = /^\s*(?:alter|create|drop)\b/i;

interface PreparedStatement {
  statement: StatementSync;
  /** Empty when the statement returns no rows. */
  columns: readonly string[];
  changesSchema: boolean;
}

/** The statements of one open connection, each prepared once. */
export class SqliteStatements {
  readonly #database: DatabaseSync;
  /** Least recently used first. */
  readonly #statements = new Map<string, PreparedStatement>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  run<Row>({ sql, parameters }: Pick<CompiledQuery, 'sql' | 'parameters'>): QueryResult<Row> {
    const { statement, columns, changesSchema } = this.#prepare(sql);
    // Statements that were prepared before may have other columns after this.
    if (changesSchema) this.#statements.clear();
    const values = parameters.map(assertBindable);
    // The caller parses the rows. Until then their type is what the query declares.
    if (columns.length > 0) return { rows: rowsOf(statement.all(...values), columns) as Row[] };
    const { changes } = statement.run(...values);
    return { numAffectedRows: BigInt(changes), rows: [] };
  }

  #prepare(sql: string): PreparedStatement {
    const known = this.#statements.get(sql);
    const entry = known ?? this.#compile(sql);
    this.#statements.delete(sql);
    this.#statements.set(sql, entry);
    return entry;
  }

  #compile(sql: string): PreparedStatement {
    const statement = this.#database.prepare(sql);
    statement.setReturnArrays(true);
    const [oldest] = this.#statements.keys();
    if (oldest !== undefined && this.#statements.size >= STATEMENTS_KEPT) this.#statements.delete(oldest);
    const columns = statement.columns().map(({ name }) => name);
    return { statement, columns, changesSchema: CHANGES_SCHEMA.test(sql) };
  }
}

/**
 * Makes row objects from arrays of values. The row objects of `node:sqlite` have no shape that V8 can use, so all code
 * that reads them is slow.
 */
function rowsOf(rows: readonly unknown[], columns: readonly string[]): object[] {
  return (rows as readonly (readonly unknown[])[]).map((values) => {
    const row: Record<string, unknown> = {};
    for (let at = 0; at < columns.length; at += 1) row[columns[at] ?? ''] = values[at];
    return row;
  });
}
