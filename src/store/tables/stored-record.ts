import { z } from 'zod';
import type { Columns, FieldsOf, RecordKind } from '../../domain/record.ts';
import { type Connection, sealerOf } from '../connection.ts';
import type { SealedPlace } from '../sealing.ts';

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
 * @throws UnreadableRecord, UnsealableSecret
 */
export function recordOfRow<C extends Columns>(
  kind: RecordKind<C, never>,
  row: object,
  connection?: Connection,
): FieldsOf<C> {
  try {
    return kind.read(connection === undefined ? row : opened(kind, row, connection));
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
): ReturnType<typeof kind.write> {
  const row: Record<string, unknown> = kind.write(record);
  for (const field of kind.sealed) {
    const text = row[field];
    if (typeof text === 'string') row[field] = sealerOf(connection).seal(text, sealedPlaceOf(kind, row, field));
  }
  return row as ReturnType<typeof kind.write>;
}

type Sealed = Pick<RecordKind<Columns>, 'table' | 'key' | 'sealed'>;

/** The place that a sealed text is bound to. */
export function sealedPlaceOf(kind: Sealed, row: object, field: string): SealedPlace {
  return { table: kind.table, row: idOf(kind, row), field };
}

function idOf({ key }: Pick<Sealed, 'key'>, row: object): string {
  return key.map((column) => String((row as Readonly<Record<string, unknown>>)[column])).join(':');
}

function opened(kind: Sealed, row: object, connection: Connection): Record<string, unknown> {
  const open: Record<string, unknown> = { ...row };
  for (const field of kind.sealed) {
    const text = open[field];
    if (typeof text === 'string') open[field] = sealerOf(connection).open(text, sealedPlaceOf(kind, row, field));
  }
  return open;
}
