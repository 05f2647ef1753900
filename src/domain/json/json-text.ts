import type { Wire } from './json.ts';
import { findJsonFault } from './json-fault.ts';
import { surveyJson } from './json-survey.ts';

/** Nesting beyond this is refused; the reference's decoder has the same bound. */
export const MAX_JSON_DEPTH = 128;

/** A text that is not JSON, or JSON that is refused; the message names line and column and quotes nothing. */
export class JsonTextError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'JsonTextError';
  }
}

/**
 * How integers beyond 2^53 are read: `exact` as a string of their decimal digits, `plain` as the nearest double, which
 * is what `JSON.parse` does.
 */
export type IntegerReading = 'exact' | 'plain';

/** Texts that may hold a number beyond any double, or a key that could reach a prototype, perhaps in escapes. */
const DANGEROUS = /\d[eE]|\d{300}|__proto__|constructor|\\u/;

interface SourceTextJson {
  parse(text: string, reviver: (this: unknown, key: string, value: unknown, context: Source) => unknown): unknown;
  rawJSON(text: string): object;
}

interface Source {
  /** The text of a primitive; absent for objects and arrays. */
  source?: string;
}

// ECMAScript 2027 (JSON.parse source text access); TypeScript's own declarations do not have it yet.
const sourceTextJson = JSON as unknown as SourceTextJson;

/**
 * Reads JSON that came from outside. Bounds its depth and its number of values. Refuses keys that could reach a
 * prototype, and numbers that a double cannot hold.
 * @param mostValues each object, list, text, number and literal counts as one
 * @throws JsonTextError
 */
export function parseJson(text: string, integers: IntegerReading, mostValues = Number.POSITIVE_INFINITY): unknown {
  const { depth, values, hasLongInteger } = surveyJson(text, MAX_JSON_DEPTH, mostValues);
  if (depth > MAX_JSON_DEPTH) throw new JsonTextError(`nested deeper than ${MAX_JSON_DEPTH} levels`);
  if (values > mostValues) throw new JsonTextError(`more than ${mostValues} values`);
  let value: unknown;
  try {
    // A reviver costs many times the parsing, so only texts that need one get it.
    const keepsDigits = integers === 'exact' && hasLongInteger;
    value = keepsDigits ? sourceTextJson.parse(text, keepDigits) : JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) throw new JsonTextError(findJsonFault(text));
    throw error;
  }
  if (DANGEROUS.test(text)) refuseDangers(value);
  return value;
}

function keepDigits(_key: string, value: unknown, { source }: Source): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  return source !== undefined && /^-?\d+$/.test(source) ? source : value;
}

function refuseDangers(value: unknown): void {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new JsonTextError('a number is too large');
  if (typeof value !== 'object' || value === null) return;
  if (Object.hasOwn(value, '__proto__')) throw new JsonTextError('the key "__proto__" is not allowed');
  if (Object.hasOwn(value, 'constructor') && hasPrototype(value.constructor)) {
    throw new JsonTextError('the key "constructor" is not allowed');
  }
  // Nesting deep enough to exhaust the stack has been refused before.
  for (const inner of Array.isArray(value) ? value : Object.values(value)) refuseDangers(inner);
}

function hasPrototype(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, 'prototype');
}

/** Writes JSON in which every `bigint` is a number with all its digits. */
export function writeJson(value: unknown): string {
  return JSON.stringify(withNumbers(value));
}

/** Reads what {@link writeJson} wrote; large integers become `bigint` again. */
export function readBack(text: string): Wire {
  return sourceTextJson.parse(text, (_key, value, { source }) =>
    typeof value !== 'number' || Number.isSafeInteger(value) || !/^-?\d+$/.test(source ?? '')
      ? value
      : BigInt(source ?? ''),
  ) as Wire;
}

/**
 * Replaces each `bigint` by a value that `JSON.stringify` writes as a number. Parts without a `bigint` are shared, not
 * copied.
 */
function withNumbers(value: unknown): unknown {
  if (typeof value === 'bigint') {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : sourceTextJson.rawJSON(value.toString());
  }
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(withNumbers);
  let copy: Record<string, unknown> | undefined;
  for (const key of Object.keys(value)) {
    const before = (value as Record<string, unknown>)[key];
    const after = withNumbers(before);
    if (after === before) continue;
    copy ??= { ...value };
    copy[key] = after;
  }
  return copy ?? value;
}
