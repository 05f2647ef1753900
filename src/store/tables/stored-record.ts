import { z } from 'zod';
import type { Columns, FieldsOf, RecordKind } from '../../domain/record.ts';

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
export function readRecord<S extends z.ZodType>(schema: S, table: string, id: string, row: unknown): z.output<S> {
  const parsed = schema.safeParse(row);
  if (parsed.success) return parsed.data;
  throw new UnreadableRecord(table, id, z.prettifyError(parsed.error), { cause: parsed.error });
}

/**
 * Reads a row into its record.
 * @throws UnreadableRecord
 */
export function readRow<C extends Columns>(kind: RecordKind<C, never>, id: string, row: unknown): FieldsOf<C> {
  try {
    return kind.read(row);
  } catch (cause) {
    if (!(cause instanceof z.ZodError)) throw cause;
    throw new UnreadableRecord(kind.table, id, z.prettifyError(cause), { cause });
  }
}
