import { randomInt } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import { z } from 'zod';
import type { Columns, FieldsOf, RecordKind, RowOf } from '../../domain/record.ts';
import type { Log } from '../../observability/log.ts';
import { type Connection, sealerOf } from '../connection.ts';
import { RECORD_KINDS, type Tables } from '../schema.ts';
import { type SealedPlace, type Sealer, UnsealableSecret } from '../sealing.ts';

/** A record in the database that this version cannot read. The message names the table and the record. */
export class UnreadableRecord extends Error {
  readonly table: string;
  readonly id: string;

  constructor(table: string, id: string, reason: string, options?: { cause?: unknown }) {
    super(`Record ${id} of table ${table} cannot be read: ${reason}`, options);
    this.name = 'UnreadableRecord';
    this.table = table;
    this.id = id;
  }
}

/** A record whose key is already taken. */
export class DuplicateRecord extends Error {
  constructor(table: string, id: string) {
    super(`Table ${table} already holds ${id}`);
    this.name = 'DuplicateRecord';
  }
}

/** An attempt that could take effect in addition to another attempt of its transaction. Storing it could pay twice. */
export class NoConflict extends Error {
  constructor(transactionId: string, ordinal: number, living: number) {
    super(`Attempt ${ordinal} of ${transactionId} does not conflict with attempt ${living}, which may still execute`);
    this.name = 'NoConflict';
  }
}

/**
 * Parses a row from the database. It is checked like any other input: the database may be restored, edited or foreign.
 * @throws UnreadableRecord
 */
export function parseRow<S extends z.ZodType>(schema: S, table: string, id: string, row: unknown): z.output<S> {
  const parsed = schema.safeParse(row);
  if (parsed.success) return parsed.data;
  throw new UnreadableRecord(table, id, z.prettifyError(parsed.error), { cause: parsed.error });
}

/**
 * Reads a row into its record, and opens what is sealed.
 * @param damaged columns that stand in for those of a row with a damaged secret, so that it switches off only itself
 * @throws UnreadableRecord, UnsealableSecret
 */
export function recordOfRow<C extends Columns>(
  kind: RecordKind<C, never>,
  row: object,
  connection?: Connection,
  damaged?: Partial<RowOf<C>>,
): FieldsOf<C> {
  try {
    return kind.read(connection === undefined ? row : opened(kind, row, connection, damaged));
  } catch (cause) {
    if (!(cause instanceof z.ZodError)) throw cause;
    throw new UnreadableRecord(kind.table, idOf(kind, row), z.prettifyError(cause), { cause });
  }
}

/** Makes the row of a record, and seals what is to be sealed. */
export function rowOfRecord<C extends Columns>(
  kind: RecordKind<C, never>,
  record: FieldsOf<C>,
  connection: Connection,
): RowOf<C> {
  const row: Record<string, unknown> = { ...kind.write(record) };
  for (const field of kind.sealed) {
    const text = row[field];
    if (typeof text === 'string') row[field] = sealerOf(connection).seal(text, sealedPlaceOf(kind, row, field));
  }
  return row as RowOf<C>;
}

type Sealed = Pick<RecordKind<Columns>, 'table' | 'key' | 'sealed'>;

/** The place that a sealed text is bound to. */
export function sealedPlaceOf(kind: Sealed, row: object, field: string): SealedPlace {
  return { table: kind.table, row: idOf(kind, row), field };
}

function idOf({ key }: Pick<Sealed, 'key'>, row: object): string {
  return key.map((column) => String((row as Readonly<Record<string, unknown>>)[column])).join(':');
}

function opened(kind: Sealed, row: object, connection: Connection, damaged?: object): Record<string, unknown> {
  const open: Record<string, unknown> = { ...row };
  try {
    for (const field of kind.sealed) {
      const text = open[field];
      if (typeof text === 'string') open[field] = sealerOf(connection).open(text, sealedPlaceOf(kind, row, field));
    }
    return open;
  } catch (error) {
    // Another key is the operator's to bring: with it the secret is whole.
    if (damaged === undefined || !(error instanceof UnsealableSecret) || error.reason !== 'damaged') throw error;
    return { ...row, ...damaged };
  }
}

/** How many records are remembered by default. The earlier half of them is forgotten at once. */
const MAX = 1_000;
/** Rows with more text than this are parsed each time, so that the memory for records stays small. */
const MAX_TEXT = 16_384;

interface Known<Row, Rec> {
  row: Row;
  record: Rec;
}

/** Some columns of a row. */
type Mark<Row extends { id: string }> = Pick<Row, 'id'> & Partial<Row>;

/**
 * Reads rows into records, and returns the same record again while its row is unchanged. Clients ask for one
 * transaction until it ends, and each request asks for its relayer. Callers must not change such a record.
 */
export class RecordCache<Row extends { id: string }, Rec> {
  readonly #read: (row: Row) => Rec;
  readonly #most: number;
  /**
   * What was read lately, and what was read before that. To move an entry to the end of one table at each read would
   * make V8 copy the table again and again.
   */
  #recent = new Map<string, Known<Row, Rec>>();
  #earlier: Map<string, Known<Row, Rec>> = new Map();

  constructor(read: (row: Row) => Rec, most = MAX) {
    this.#read = read;
    this.#most = most;
  }

  record(row: Row): Rec {
    const known = this.known(row);
    if (known !== undefined) return known;
    this.#recent.delete(row.id);
    this.#earlier.delete(row.id);
    const record = this.#read(row);
    if (textOf(row) <= MAX_TEXT) this.#remember({ row, record });
    return record;
  }

  #remember(known: Known<Row, Rec>): void {
    if (this.#recent.size >= this.#most / 2) {
      this.#earlier = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(known.row.id, known);
  }

  #entry(id: string): Known<Row, Rec> | undefined {
    const recent = this.#recent.get(id);
    if (recent !== undefined) return recent;
    const earlier = this.#earlier.get(id);
    if (earlier !== undefined) this.#remember(earlier);
    return earlier;
  }

  /**
   * Reads the record with this id. While its row is unchanged, that takes only its mark: columns of which one changes
   * with each write of the row. Each function returns one row or none.
   */
  find(
    id: string,
    readMark: () => Mark<Row>[] | Promise<Mark<Row>[]>,
    readRow: () => Promise<Row[]>,
  ): Rec | undefined | Promise<Rec | undefined> {
    if (this.#entry(id) === undefined) return this.#readRow(readRow);
    const marks = readMark();
    return marks instanceof Promise
      ? marks.then(([mark]) => this.#ofMark(mark, readRow))
      : this.#ofMark(marks[0], readRow);
  }

  #ofMark(mark: Mark<Row> | undefined, readRow: () => Promise<Row[]>): Rec | undefined | Promise<Rec | undefined> {
    const known = mark && this.known(mark);
    return known !== undefined || mark === undefined ? known : this.#readRow(readRow);
  }

  async #readRow(readRow: () => Promise<Row[]>): Promise<Rec | undefined> {
    const [row] = await readRow();
    return row && this.record(row);
  }

  /**
   * Returns the remembered record of a row if these columns are unchanged. With only some of the columns, the record is
   * right only if one of them changes with each write of the row.
   */
  known(columns: Mark<Row>): Rec | undefined {
    const known = this.#entry(columns.id);
    return known !== undefined && isSame(known.row, columns) ? known.record : undefined;
  }
}

/**
 * A new random revision of a row, so that no two writes share one. With a counter, a write could get the number of an
 * earlier write that was rolled back.
 */
export function newRevision(): number {
  return randomInt(2 ** 48 - 1);
}

function isSame(one: object, other: object): boolean {
  const [before, now] = [one, other] as Record<string, unknown>[];
  for (const column in now) if (before?.[column] !== now[column]) return false;
  return true;
}

/** Length of a row's texts, in UTF-16 code units. */
function textOf(row: object): number {
  return Object.values(row).reduce((sum, value) => sum + (typeof value === 'string' ? value.length : 0), 0);
}

/** Tables of settings. Each of their secrets is looked at in each start. A damaged one switches off only its record. */
const SETTINGS: readonly string[] = ['networks', 'notifications', 'plugin_settings', 'relayers', 'signers'];

/**
 * Seals all secrets anew that are sealed under an older key, so that the key can be retired after one start. A secret
 * that cannot be opened stays as it is.
 */
export async function resealSettings(db: Kysely<Tables>, sealer: Sealer, log: Log): Promise<void> {
  for (const { table, key, sealed } of RECORD_KINDS) {
    if (sealed.length === 0) continue;
    const columns = sql.join([...key, ...sealed].map((name) => sql.ref(name)));
    const isOutdated = sql.join(
      sealed.map((name) => sql`substr(${sql.ref(name)}, 1, ${sql.lit(sealer.prefix.length)}) <> ${sealer.prefix}`),
      sql` or `,
    );
    const isSetting = SETTINGS.includes(table);
    const isRevised = table === 'relayers';
    const order = sql.join(key.map((name) => sql.ref(name)));
    // What is sealed anew is not found again. What is outdated and cannot be opened is, and so is passed over.
    let passed = 0;
    for (;;) {
      // Journals of calls are many.
      const some = isSetting
        ? sql``
        : sql`where ${isOutdated} order by ${order} limit ${sql.lit(RESEALED_AT_ONCE)} offset ${sql.lit(passed)}`;
      const found = sql<Record<string, string | null>>`select ${columns} from ${sql.table(table)} ${some}`;
      const { rows } = await found.execute(db);
      for (const row of rows) {
        const here = sql.join(
          key.map((name) => sql`${sql.ref(name)} = ${row[name]}`),
          sql` and `,
        );
        let isPassed = false;
        for (const field of sealed) {
          const text = row[field];
          if (text == null) continue;
          const place = sealedPlaceOf({ table, key, sealed }, row, field);
          try {
            const open = sealer.open(text, place);
            if (!sealer.isOutdated(text)) continue;
            const secret = sealer.seal(open, place);
            const revision = isRevised ? sql`, revision = ${newRevision()}` : sql``;
            await sql`update ${sql.table(table)} set ${sql.ref(field)} = ${secret}${revision} where ${here}`.execute(
              db,
            );
          } catch (err) {
            if (!(err instanceof UnsealableSecret)) throw err;
            if (table !== 'signers' && err.reason === 'unknown-key') throw err;
            isPassed ||= sealer.isOutdated(text);
            const effect = WITHOUT_IT[table] ?? 'it is left out';
            log.error({ err, table, record: place.row, effect }, 'a stored secret cannot be opened');
          }
        }
        if (isPassed) passed += 1;
      }
      if (isSetting || rows.length < RESEALED_AT_ONCE) break;
    }
  }
}

/** What becomes of a record with a secret that cannot be opened, by its table. */
const WITHOUT_IT: Readonly<Record<string, string>> = {
  networks: 'no endpoint of the network is called until its rpc_urls are set again',
  notifications: 'nothing is delivered to it until its URL and its signing keys are set again',
  plugin_settings: 'the plugin is disabled, and has the settings of its entry again',
  relayers: 'the relayer calls no endpoint until its custom_rpc_urls are set again',
  signers: 'its relayers sign nothing until it is made again',
};

/** Rows of a table that are sealed anew at once. */
const RESEALED_AT_ONCE = 500;
