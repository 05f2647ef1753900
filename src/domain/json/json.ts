/** Any value that JSON text can carry. */
export type Json = string | number | boolean | null | Json[] | JsonObject;

export interface JsonObject {
  [key: string]: Json;
}

/** Whether a value is an object with keys, not a list. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An answer that has to be an object. @throws TypeError */
export function objectIn(value: Json | undefined): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new TypeError('not an object');
  return value;
}

/** An answer that has to be a list. @throws TypeError */
export function listIn(value: Json | undefined): Json[] {
  if (!Array.isArray(value)) throw new TypeError('not a list');
  return value;
}

/**
 * What the service writes on the wire: JSON in which an integer may be a `bigint`. The HTTP serialiser writes it as a
 * JSON number with all its digits.
 */
export type WireValue = string | number | bigint | boolean | null | undefined | WireValue[] | WireObject;

export interface WireObject {
  [key: string]: WireValue;
}

/**
 * Writes the same text for all spellings of a JSON value: members ordered by the code units of their keys, no blanks
 * (RFC 8785). For hashing and comparing.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) {
    // A list of plain values is written in one call, which is much faster than item by item.
    return value.every(isPlain) ? JSON.stringify(value) : `[${value.map(canonicalJson).join(',')}]`;
  }
  let members = '';
  // `sort` orders by code units.
  for (const key of Object.keys(value).sort()) {
    const part = (value as Record<string, unknown>)[key];
    if (part === undefined) continue;
    members += `${members === '' ? '' : ','}${JSON.stringify(key)}:${canonicalJson(part)}`;
  }
  return `{${members}}`;
}

/** Whether `JSON.stringify` can write the value in one way only. */
function isPlain(value: unknown): boolean {
  return value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

/** Reads an object, each one once. */
interface OncePerObject<O extends object, R> {
  (from: O): R;
  /** Gives the result for an object that the caller has just made from it. That object is not read. */
  know(from: O, result: R): void;
}

/**
 * Reads each object once and keeps the result as long as the object lives. Only for objects that nobody changes, like
 * those of the store. Checking and converting such an object gives the same result each time, and takes longer than
 * using the result.
 */
export function memoizePerObject<O extends object, R>(read: (from: O) => R): OncePerObject<O, R> {
  const known = new WeakMap<O, { readonly result: R }>();
  const know = (from: O, result: R): R => {
    known.set(from, { result });
    return result;
  };
  return Object.assign(
    (from: O): R => {
      const once = known.get(from);
      return once === undefined ? know(from, read(from)) : once.result;
    },
    { know },
  );
}
