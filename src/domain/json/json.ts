/** Any value that JSON text can carry. */
export type Json = string | number | boolean | null | Json[] | JsonObject;

export interface JsonObject {
  [key: string]: Json;
}

/** Whether a value is an object with keys, not a list. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * What the service writes on the wire: JSON in which an integer may be a `bigint`. The HTTP serialiser writes it as a
 * JSON number with all its digits.
 */
export type Wire = string | number | bigint | boolean | null | undefined | Wire[] | WireObject;

export interface WireObject {
  [key: string]: Wire;
}
