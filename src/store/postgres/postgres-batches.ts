import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely';
import pg from 'pg';
import { assertBindable } from '../connection.ts';
import { typeParsers } from './postgres-dialect.ts';

/** SQLSTATEs that end a session. The severity would say it, in the server's language. */
const ENDS_SESSION = /^(08|28|3D|53|57P|25P03|XX|$)/;

type Query = Pick<CompiledQuery, 'sql' | 'parameters'>;
type Rows = QueryResult<unknown>;

/** How a statement of a batch ended. One after a failed one did not run. */
type Outcome = { rows: Rows } | { error: unknown } | 'not run';

/** A row's columns, as `pg` names their types. */
interface Field {
  name: string;
  dataTypeID: number;
}

/**
 * Statements that go to the server in one message and end together, so that they cost one round trip. After the first
 * that fails none runs: https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-PIPELINING
 */
class Batch implements pg.Submittable {
  /** `pg` wraps this to limit the time. */
  callback: (error: unknown) => void;
  readonly #queries: readonly Query[];
  readonly #outcomes: Outcome[] = [];
  #fields: { name: string; parse: (text: string) => unknown }[] = [];
  #rows: object[] = [];

  constructor(queries: readonly Query[], done: (outcomes: readonly Outcome[]) => void) {
    this.#queries = queries;
    this.callback = (error) => {
      if (error !== null) this.#outcomes.push({ error });
      done(this.#queries.map((_, at) => this.#outcomes[at] ?? 'not run'));
      this.callback = () => {};
    };
  }

  submit(connection: pg.Connection): void {
    connection.stream.cork();
    try {
      for (const { sql, parameters } of this.#queries) {
        connection.parse({ name: '', text: sql, types: [] }, true);
        connection.bind({ values: parameters.map(textOf) }, true);
        connection.describe({ type: 'P', name: '' }, true);
        connection.execute({ portal: '', rows: '' }, true);
      }
      connection.sync();
    } finally {
      connection.stream.uncork();
    }
  }

  handleRowDescription({ fields }: { fields: Field[] }): void {
    this.#fields = fields.map(({ name, dataTypeID }) => ({
      name,
      parse: typeParsers.getTypeParser(dataTypeID, 'text'),
    }));
  }

  handleDataRow({ fields: texts }: { fields: (string | null)[] }): void {
    const row: Record<string, unknown> = {};
    for (const [at, { name, parse }] of this.#fields.entries()) {
      const text = texts[at] ?? null;
      row[name] = text === null ? null : parse(text);
    }
    this.#rows.push(row);
  }

  handleCommandComplete({ text }: { text: string }): void {
    const [, command = '', count = ''] = /^([A-Z]+)(?: \d+)*? ?(\d*)$/.exec(text) ?? [];
    const isWrite = ['INSERT', 'UPDATE', 'DELETE'].includes(command);
    // PostgreSQL answers the commit of a failed transaction like a rollback.
    const rows = command === 'ROLLBACK' ? [{ command }] : this.#rows;
    this.#outcomes.push({ rows: { rows, ...(isWrite && { numAffectedRows: BigInt(count) }) } });
    this.#rows = [];
    this.#fields = [];
  }

  handleEmptyQuery(): void {
    this.#outcomes.push({ rows: { rows: [] } });
  }

  handleError(error: unknown): void {
    this.callback(error);
  }

  handleReadyForQuery(): void {
    this.callback(null);
  }
}

/** @returns how each statement ended; never rejects */
function sendTogether(client: pg.ClientBase, queries: readonly Query[]): Promise<readonly Outcome[]> {
  return new Promise((resolve) => {
    client.query(new Batch(queries, resolve));
  });
}

function textOf(value: unknown): string | null {
  const bindable = assertBindable(value);
  return bindable === null ? null : String(bindable);
}

/** One of the things that were asked for at once. */
export interface Waiting<Asked, Answer> {
  asked: Asked;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

/** How many messages may be under way before what is asked for waits, and for how long at most. */
interface GatheringLimits {
  underWay: number;
  /** Milliseconds. */
  waitMs: number;
}

/**
 * Gathers what is asked for within one turn of microtasks, so that it goes to the server together. With limits, it
 * gathers for longer while messages are under way: the more is asked for, the more goes together.
 */
export class Gathering<Asked, Answer> {
  readonly #send: (waiting: Waiting<Asked, Answer>[]) => Promise<void>;
  readonly #limits: GatheringLimits;
  #waiting: Waiting<Asked, Answer>[] = [];
  #underWay = 0;
  #late: NodeJS.Timeout | undefined;

  /** @param send never rejects */
  constructor(
    send: (waiting: Waiting<Asked, Answer>[]) => Promise<void>,
    limits: GatheringLimits = { underWay: Number.POSITIVE_INFINITY, waitMs: 0 },
  ) {
    this.#send = send;
    this.#limits = limits;
  }

  add(asked: Asked): Promise<Answer> {
    return new Promise((resolve, reject) => {
      // Called between microtasks, this runs after all of them: what they ask for goes along.
      if (this.#waiting.length === 0) process.nextTick(() => this.#sendSoon());
      this.#waiting.push({ asked, resolve, reject });
    });
  }

  #sendSoon(): void {
    const { underWay, waitMs } = this.#limits;
    if (this.#underWay < underWay) this.#sendNow();
    else this.#late ??= setTimeout(() => this.#sendNow(), waitMs);
  }

  #sendNow(): void {
    clearTimeout(this.#late);
    this.#late = undefined;
    this.#underWay += 1;
    void this.#send(this.#waiting.splice(0)).then(() => {
      this.#underWay -= 1;
      if (this.#late !== undefined) this.#sendNow();
    });
  }
}

type WaitingQuery = Waiting<Query, Rows>;

/**
 * One connection of the pool with an open transaction. Statements that a body asks for at once go together, the first
 * ones with the transaction's beginning.
 */
export class TransactionConnection implements DatabaseConnection {
  readonly #client: pg.ClientBase;
  readonly #gathering = new Gathering<Query, Rows>((waiting) => this.#later(waiting));
  #sent: Promise<void> = Promise.resolve();
  /** Why a statement failed. None may run after it: without a begun transaction it would be kept alone. */
  #fault: { error: unknown } | undefined;

  constructor(client: pg.ClientBase) {
    this.#client = client;
  }

  /** Begins a transaction, with the first statements. */
  begin(sql: readonly string[]): void {
    this.#fault = undefined;
    // A failure shows in the statements that go along: none of them runs.
    for (const one of sql) this.executeQuery({ sql: one, parameters: [] }).catch(() => {});
  }

  async commit(): Promise<void> {
    const { rows } = await this.executeQuery({ sql: 'commit', parameters: [] });
    if (rows.length > 0) throw new Error('The transaction was rolled back');
  }

  async rollback(): Promise<void> {
    await this.#sent;
    this.#fault = undefined;
    await this.executeQuery({ sql: 'rollback', parameters: [] });
  }

  executeQuery<Row>(query: Query): Promise<QueryResult<Row>> {
    return this.#gathering.add(query) as Promise<QueryResult<Row>>;
  }

  // oxlint-disable-next-line require-yield -- the interface asks for a generator
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('The store reads in pages; it does not stream');
  }

  #later(waiting: readonly WaitingQuery[]): Promise<void> {
    this.#sent = this.#sent.then(() => this.#send(waiting));
    return this.#sent;
  }

  async #send(waiting: readonly WaitingQuery[]): Promise<void> {
    const outcomes =
      this.#fault === undefined
        ? await sendTogether(
            this.#client,
            waiting.map(({ asked }) => asked),
          )
        : [];
    for (const [at, { resolve, reject }] of waiting.entries()) {
      const outcome = outcomes[at] ?? 'not run';
      if (outcome === 'not run') {
        reject(this.#fault?.error);
      } else if ('error' in outcome) {
        this.#fault ??= outcome;
        reject(outcome.error);
      } else {
        resolve(outcome.rows);
      }
    }
  }
}

/** How many reads go in one message. More go in several, over several connections. */
const READS_TOGETHER = 32;

/** A read waits no longer than this for the answer to others, so that a slow one does not hold it up. */
const READS_LIMITS = { underWay: 2, waitMs: 3 };

/** Reads outside of transactions, over any connection of the pool. Those that are asked for at once go together. */
export class ReadingConnection implements DatabaseConnection {
  readonly #pool: pg.Pool;
  readonly #gathering = new Gathering<Query, Rows>(async (waiting) => {
    const parts = Array.from({ length: Math.ceil(waiting.length / READS_TOGETHER) }, (_, part) =>
      waiting.slice(part * READS_TOGETHER, (part + 1) * READS_TOGETHER),
    );
    await Promise.all(parts.map((part) => this.#send(part)));
  }, READS_LIMITS);

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  executeQuery<Row>(query: Query): Promise<QueryResult<Row>> {
    return this.#gathering.add(query) as Promise<QueryResult<Row>>;
  }

  // oxlint-disable-next-line require-yield -- the interface asks for a generator
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('The store reads in pages; it does not stream');
  }

  async #send(waiting: readonly WaitingQuery[]): Promise<void> {
    let outcomes: readonly Outcome[];
    try {
      const client = await this.#pool.connect();
      outcomes = await sendTogether(
        client,
        waiting.map(({ asked }) => asked),
      );
      // What did not come from the server may come later, and would be taken for the next read's answer.
      client.release(
        outcomes.some((one) => one !== 'not run' && 'error' in one && !(one.error instanceof pg.DatabaseError)),
      );
    } catch (error) {
      outcomes = [{ error }];
    }
    let fault: unknown;
    for (const [at, one] of waiting.entries()) {
      const outcome = outcomes[at] ?? 'not run';
      if (outcome === 'not run') {
        // The reads behind a wrong one are not to blame. Behind a lost connection each would wait for itself.
        if (fault instanceof pg.DatabaseError && !ENDS_SESSION.test(fault.code ?? '')) void this.#send([one]);
        else one.reject(fault);
      } else if ('error' in outcome) {
        fault = outcome.error;
        one.reject(fault);
      } else {
        one.resolve(outcome.rows);
      }
    }
  }
}
