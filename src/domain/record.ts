import { z } from 'zod';
import { isObject, type Json, type JsonObject, type WireValue } from './json/json.ts';
import { wireTime } from './wire-time.ts';

/**
 * How a field of a record is stored. The schema reads the column's value. It checks it like any other input: a database
 * may be restored, edited or foreign.
 */
export interface Column<Field, Stored extends string | number | null> {
  schema: z.ZodType<Field>;
  write(field: Field): Stored;
  /** Whether the store encrypts the column's text. */
  isSealed?: boolean;
  /** Its name; absent: the field's in `snake_case`. */
  name?: string;
  /** How answers show the field, where they show it otherwise than it is. */
  wire?: { schema: z.ZodType; show(field: Field): WireValue };
}

/** The columns of a record, by the names of its fields. */
export type Columns = Readonly<
  Record<
    string,
    {
      schema: z.ZodType;
      write(field: never): string | number | null;
      isSealed?: boolean;
      isGenerated?: boolean;
      isShown?: boolean;
      name?: string;
      wire?: { schema: z.ZodType; show(field: never): WireValue };
    }
  >
>;

/** The record that some columns store. */
export type FieldsOf<C extends Columns> = {
  -readonly [Name in keyof C]: C[Name] extends { schema: z.ZodType<infer Field> } ? Field : never;
};

/** What may change of a record: its fields but the fixed ones. */
export type ChangeOf<Kind> = Kind extends RecordKind<infer C, infer Fixed> ? Partial<Omit<FieldsOf<C>, Fixed>> : never;

/** A row with these columns. */
export type RowOf<C extends Columns> = {
  -readonly [Name in keyof C as NameOf<C, Name>]: C[Name] extends { write(field: never): infer Stored }
    ? Stored
    : never;
};

/** The names of those of the columns that have a mark. */
export type Marked<C extends Columns, Mark extends 'isGenerated' | 'isShown'> = {
  [Name in keyof C]: C[Name] extends { [M in Mark]: true } ? NameOf<C, Name> : never;
}[keyof C];

type NameOf<C extends Columns, Name extends keyof C> = Name extends keyof C
  ? C[Name] extends { name: infer Given extends string }
    ? Given
    : ColumnName<Name & string>
  : never;

type ColumnName<Field extends string> = Field extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${ColumnName<Rest>}`
  : '';

/** A kind of record: how it is read from its row and written into one. */
export interface RecordKind<
  C extends Columns,
  Fixed extends keyof C = never,
  Table extends string = string,
  Beside extends Columns = Columns,
> {
  table: Table;
  /** The names of the columns of its fields. */
  names: readonly (keyof RowOf<C> & string)[];
  /** All columns of the table. */
  columns: readonly { name: string; isNullable: boolean }[];
  /** The columns of the table that are no fields. */
  beside: Beside;
  /** The columns that tell one record from another. */
  key: readonly string[];
  /** The columns whose texts are encrypted, also those that are no fields. */
  sealed: readonly string[];
  /** @throws ZodError */
  read(row: unknown): FieldsOf<C>;
  /**
   * The columns of a record, or of the fields that are given. Sealed columns are in clear text here: the store seals
   * them (`rowOfRecord`).
   */
  write<Field extends keyof C>(record: Pick<FieldsOf<C>, Field>): Pick<RowOf<C>, NameOf<C, Field> & keyof RowOf<C>>;
  /** The columns of a change. */
  writeChange(change: Partial<Omit<FieldsOf<C>, Fixed>>): Partial<RowOf<C>>;
  /** A record without what is no field of it. */
  pick<T extends Partial<FieldsOf<C>>>(from: T): Pick<T, keyof T & keyof C>;
  /** What answers show of a record, by the names of the columns: how it is described, and its value. */
  shown: Record<Marked<C, 'isShown'>, readonly [schema: z.ZodType, valueIn: (record: FieldsOf<C>) => WireValue]>;
}

/**
 * Declares a kind of record. Type, columns, row, change and checks derive from this.
 * @param key the fields that tell one record from another
 * @param fixed the fields that never change
 * @param beside columns of the table that are no fields, such as secrets: no view, log line or error contains them
 */
export function defineRecord<
  Table extends string,
  C extends Columns,
  Fixed extends keyof C & string = never,
  Beside extends Columns = Record<never, never>,
>(
  table: Table,
  columns: C,
  { key = ['id'], fixed = [], beside }: RecordOptions<C, Fixed, Beside> = {},
): RecordKind<C, Fixed, Table, Beside> {
  const fields = named(columns);
  const all = [...fields, ...named(beside ?? {})];
  const changeable = fields.filter(({ field }) => !(fixed as readonly string[]).includes(field));
  const shown = fields.filter(({ isShown }) => isShown);
  const row = z.object(Object.fromEntries(fields.map(({ name, schema }) => [name, schema])));
  const writing = (written: typeof fields) => (from: Readonly<Record<string, unknown>>) => {
    const columns: Record<string, string | number | null> = {};
    for (const { field, name, write } of written) {
      const value = from[field];
      if (value !== undefined) columns[name] = write(value);
    }
    return columns;
  };
  // A copy of an object with all fields takes half the time of one that gets them one by one.
  const blank: Record<string, unknown> = Object.fromEntries(fields.map(({ field }) => [field, undefined]));
  const kind = {
    table,
    names: fields.map(({ name }) => name),
    columns: all.map(({ name, schema }) => ({ name, isNullable: schema.safeParse(null).success })),
    beside,
    key: fields.filter(({ field }) => key.includes(field)).map(({ name }) => name),
    sealed: all.filter(({ isSealed }) => isSealed).map(({ name }) => name),
    read(stored: unknown) {
      const parsed = row.parse(stored);
      const read = { ...blank };
      for (const { field, name } of fields) read[field] = parsed[name];
      return read;
    },
    write: writing(fields),
    writeChange: writing(changeable),
    pick: (given: Readonly<Record<string, unknown>>) =>
      Object.fromEntries(fields.flatMap(({ field }) => (field in given ? [[field, given[field]]] : []))),
    shown: Object.fromEntries(
      shown.map(({ field, name, schema, wire }) => [
        name,
        [
          wire?.schema ?? schema,
          wire
            ? (record: Readonly<Record<string, unknown>>) => wire.show(record[field])
            : (record: Readonly<Record<string, unknown>>) => record[field],
        ],
      ]),
    ),
  };
  return kind as unknown as RecordKind<C, Fixed, Table, Beside>;
}

interface RecordOptions<C extends Columns, Fixed, Beside extends Columns> {
  key?: readonly (keyof C & string)[];
  fixed?: readonly Fixed[];
  beside?: Beside;
}

function named(columns: Columns) {
  return Object.entries(
    columns as Readonly<Record<string, Column<unknown, string | number | null> & { isShown?: boolean }>>,
  ).map(
    // All have one shape, so that reading a row stays fast.
    ([field, { name = columnName(field), schema, write, isSealed, isShown, wire }]) => ({
      field,
      name,
      schema,
      write,
      isSealed,
      isShown,
      wire,
    }),
  );
}

function columnName(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** A column whose value is the field itself. */
function same<T extends string | number>(schema: z.ZodType<T>): Column<T, T> {
  return { schema, write: (field) => field };
}

/** A key, or a text that no one outside chooses. It is stored as it is: two different keys are never made equal. */
export const textColumn = same(z.string());

/** Prose, such as a node's error. What a database cannot store in it is replaced. */
export const proseColumn: Column<string, string> = { schema: z.string(), write: storableText };

export const integerColumn = same(z.int());

/** Milliseconds since the Unix epoch. */
export const timestampColumn: Column<number, number> = {
  ...same(z.int()),
  wire: { schema: z.string().meta({ description: 'Date and time (RFC 3339)' }), show: wireTime },
};

/** One of some texts. */
export function enumColumn<T extends string>(schema: z.ZodType<T>): Column<T, T> {
  return same(schema);
}

/** A boolean, which both databases store as 0 or 1. */
export const booleanColumn: Column<boolean, number> = {
  schema: z.union([z.literal(0), z.literal(1)]).transform((stored) => stored === 1),
  write: (field) => (field ? 1 : 0),
};

/** JSON text whose value has the given shape. */
export function jsonColumn<T>(shape: z.ZodType<T>): Column<T, string> {
  return { schema: jsonText(shape), write: (field) => JSON.stringify(field) };
}

/** JSON text of any object. */
export const jsonObjectColumn = jsonColumn(z.custom<JsonObject>(isObject, 'not a JSON object'));

/** JSON text of any value. */
export const anyJsonColumn = jsonColumn(z.custom<Json>(() => true));

/** An amount in the smallest unit, as decimal digits. */
export const amountColumn: Column<bigint, string> = {
  schema: z
    .string()
    .regex(/^\d{1,100}$/)
    .transform(BigInt),
  write: String,
};

/**
 * A sequence of an account, as decimal digits of fixed width: both databases compare and order it without loss.
 * Writing throws a RangeError outside 0 to 2^64 - 1.
 */
export const accountSequenceColumn: Column<bigint, string> = {
  schema: z
    .string()
    .regex(/^\d{20}$/)
    .transform((digits) => BigInt(digits)),
  write(field) {
    if (field < 0n || field >= 2n ** 64n) throw new RangeError(`No sequence: ${field}`);
    return field.toString().padStart(20, '0');
  },
};

/** A column with another name than its field. */
export function columnNamed<C, Name extends string>(name: Name, column: C): C & { name: Name } {
  return { ...column, name };
}

/** A column that the database fills when the row is inserted. */
export function generatedColumn<C>(column: C): C & { isGenerated: true } {
  return { ...column, isGenerated: true };
}

/** A field that answers show, under its column's name. */
export function shownColumn<C>(column: C): C & { isShown: true } {
  return { ...column, isShown: true };
}

/** A text that the store encrypts: a secret, or an address that has one. */
export function sealedColumn<Field>(column: Column<Field, string>): Column<Field, string> {
  return { ...column, isSealed: true };
}

/** A column that may be empty. */
export function nullableColumn<Field, Stored extends string | number>(
  column: Column<Field, Stored>,
): Column<Field | null, Stored | null> {
  const { schema, write, wire } = column;
  return {
    ...column,
    schema: schema.nullable(),
    write: (field) => (field === null ? null : write(field)),
    ...(wire && {
      wire: {
        schema: wire.schema.nullable(),
        show: (field: Field | null) => (field === null ? null : wire.show(field)),
      },
    }),
  };
}

/** Reads JSON text whose value has the given shape. */
export function jsonText<T>(shape: z.ZodType<T>): z.ZodType<T> {
  return z
    .string()
    .transform((stored, context): unknown => {
      try {
        return JSON.parse(stored);
      } catch (cause) {
        context.addIssue({ code: 'custom', message: `no JSON: ${String(cause)}` });
        return z.NEVER;
      }
    })
    .pipe(shape);
}

/**
 * Makes a text storable in both databases: PostgreSQL has no NUL, and UTF-8 has no lone surrogates. Never use it on a
 * key: it could make two keys equal.
 */
export function storableText(prose: string): string {
  return prose.toWellFormed().replaceAll('\0', '\u{fffd}');
}
