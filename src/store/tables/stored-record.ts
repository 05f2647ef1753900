import { z } from 'zod';
import { isObject, type Json, type JsonObject } from '../../domain/json/json.ts';

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

/** A column of JSON text whose value has the given shape. */
export function jsonText<S extends z.ZodType>(schema: S) {
  return z
    .string()
    .transform((text, context): unknown => {
      try {
        return JSON.parse(text);
      } catch (cause) {
        context.addIssue({ code: 'custom', message: `no JSON: ${String(cause)}` });
        return z.NEVER;
      }
    })
    .pipe(schema);
}

/** Any value. Use it only for results of `JSON.parse`. */
export const anyJsonSchema = z.custom<Json>(() => true);

/** Any object. Use it only for results of `JSON.parse`. */
export const anyJsonObjectSchema = z.custom<JsonObject>(isObject, 'not a JSON object');

export const timestampSchema = z.int();

/** A boolean, which both databases store as 0 or 1. */
export const flagSchema = z.union([z.literal(0), z.literal(1)]).transform((flag) => flag === 1);

/**
 * Makes a text storable in both databases: PostgreSQL has no NUL, and UTF-8 has no lone surrogates. For prose such as a
 * node's error. Never use it on a key: it could make two keys equal.
 */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\u{fffd}');
}
