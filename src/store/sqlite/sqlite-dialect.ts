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
import { bindable } from '../bindable.ts';

/** Distinct statements of the queries, with room for lists of different lengths. */
const STATEMENTS_KEPT = 256;

/**
 * Kysely over one open connection of `node:sqlite`, which the caller opens and closes.
 * @param statements of that connection, where others make queries on it beside Kysely
 */
export function sqliteDialect(database: DatabaseSync, statements = new SqliteStatements(database)): Dialect {
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new SqliteDriver(database, statements),
    createIntrospector: (db: Kysely<unknown>) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

class SqliteDriver implements Driver {
  readonly #database: DatabaseSync;
  readonly #connection: SqliteConnection;

  constructor(database: DatabaseSync, statements: SqliteStatements) {
    this.#database = database;
    this.#connection = new SqliteConnection(statements);
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    return this.#connection;
  }

  /** Immediate: a transaction that reads first and writes later would otherwise fail half-way. */
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

  constructor(statements: SqliteStatements) {
    this.#statements = statements;
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
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
  /** None when it answers no rows. */
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
    // What was prepared before may have other columns after this.
    if (changesSchema) this.#statements.clear();
    const values = parameters.map(bindable);
    // The caller parses the rows; until then they are what the query says.
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

/** Rows from their values: the objects that `node:sqlite` makes have no shape, and all who read them are slow. */
function rowsOf(rows: readonly unknown[], columns: readonly string[]): object[] {
  return (rows as readonly (readonly unknown[])[]).map((values) => {
    const row: Record<string, unknown> = {};
    for (let at = 0; at < columns.length; at += 1) row[columns[at] ?? ''] = values[at];
    return row;
  });
}
