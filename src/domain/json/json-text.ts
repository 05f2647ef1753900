import type { WireValue } from './json.ts';

/**
 * One token of RFC 8259, or any single character that is none. Numbers and literals run on to the next delimiter, so
 * that `01` and `nul` are one wrong token each.
 */
const TOKEN =
  /([ \t\n\r]*)(?:([{}[\],:])|("(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")|([^ \t\n\r{}[\],:"]+)|([^]?))/y;

const SCALAR = /^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)$/;

type Expected =
  | 'a value'
  | 'a value or "]"'
  | 'a key in double quotes or "}"'
  | 'a key in double quotes'
  | '":"'
  | '"," or "}"'
  | '"," or "]"'
  | 'nothing more';

/**
 * Says where and how a text that `JSON.parse` refuses stops being JSON: `expected "," or "}" at line 3 column 5`.
 * `JSON.parse` itself names no position for some faults and quotes the text for others, which may hold a secret.
 */
export function findJsonFault(text: string): string {
  const open: ('{' | '[')[] = [];
  let expected: Expected = 'a value';
  const token = new RegExp(TOKEN);
  for (;;) {
    const [whole = '', space = '', mark, string, word, other] = token.exec(text) ?? [];
    const at = token.lastIndex - whole.length + space.length;
    if (at >= text.length) return `the text ends, expected ${expected} at ${place(text, at)}`;
    if (other === '"') return `the string is not closed or holds what must be escaped at ${place(text, at)}`;
    const next = step(expected, open, string === undefined ? (mark ?? word) : '"');
    if (next === undefined) return `expected ${expected} at ${place(text, at)}`;
    expected = next;
  }
}

/** What may follow the token, or undefined when the token itself is wrong; `"` stands for a string. */
function step(expected: Expected, open: ('{' | '[')[], token: string | undefined): Expected | undefined {
  const closes = (mark: '}' | ']') => token === mark && expected.includes(`"${mark}"`);
  if (closes('}') || closes(']')) {
    open.pop();
    return afterValue(open);
  }
  switch (expected) {
    case 'a value':
    case 'a value or "]"':
      if (token === '{') return push(open, '{', 'a key in double quotes or "}"');
      if (token === '[') return push(open, '[', 'a value or "]"');
      return token === '"' || (token !== undefined && SCALAR.test(token)) ? afterValue(open) : undefined;
    case 'a key in double quotes':
    case 'a key in double quotes or "}"':
      return token === '"' ? '":"' : undefined;
    case '":"':
      return token === ':' ? 'a value' : undefined;
    case '"," or "}"':
      return token === ',' ? 'a key in double quotes' : undefined;
    case '"," or "]"':
      return token === ',' ? 'a value' : undefined;
    case 'nothing more':
      return undefined;
  }
}

function push(open: ('{' | '[')[], mark: '{' | '[', expected: Expected): Expected {
  open.push(mark);
  return expected;
}

function afterValue(open: readonly ('{' | '[')[]): Expected {
  const innermost = open.at(-1);
  if (innermost === undefined) return 'nothing more';
  return innermost === '{' ? '"," or "}"' : '"," or "]"';
}

function place(text: string, at: number): string {
  let line = 1;
  let start = 0;
  for (let end = text.indexOf('\n'); end !== -1 && end < at; end = text.indexOf('\n', start)) {
    line += 1;
    start = end + 1;
  }
  return `line ${line} column ${at - start + 1}`;
}

/** What a JSON text shows before it is parsed. For a text that is not JSON, the values mean little. */
interface JsonSurvey {
  /** How deep objects and lists are nested. */
  depth: number;
  /** The number of objects, lists, texts, numbers and literals; keys do not count. */
  values: number;
  /** Whether a number may be beyond 2^53. */
  hasLongInteger: boolean;
}

const SPACE = 0x20;

const QUOTE = 0x22;

const COMMA = 0x2c;

const DIGIT_0 = 0x30;

const DIGIT_9 = 0x39;

const COLON = 0x3a;

const OPEN_BRACKET = 0x5b;

const BACKSLASH = 0x5c;

const CLOSE_BRACKET = 0x5d;

const OPEN_BRACE = 0x7b;

const CLOSE_BRACE = 0x7d;

/** The number of digits of 2^53. */
const LONG_DIGITS = 16;

/**
 * Counts values and levels in the text itself, without parsing. Parsing a million values takes long, and walking them
 * takes longer. Walking a deeply nested value would exhaust the stack. Stops where a bound is exceeded.
 */
export function measureJson(text: string, mostDepth: number, mostValues: number): JsonSurvey {
  const survey: JsonSurvey = { depth: 0, values: 0, hasLongInteger: false };
  let depth = 0;
  let digits = 0;
  let isInScalar = false;
  // A key counts as a value until its colon comes.
  for (let at = 0; at < text.length && depth <= mostDepth && survey.values <= mostValues + 1; at += 1) {
    const code = text.charCodeAt(at);
    switch (code) {
      case QUOTE:
        survey.values += 1;
        at = endOfText(text, at);
        break;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        survey.values += 1;
        depth += 1;
        survey.depth = Math.max(survey.depth, depth);
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        depth -= 1;
        break;
      case COLON:
        survey.values -= 1;
        break;
      default:
        if (code === COMMA || code <= SPACE) break;
        if (!isInScalar) survey.values += 1;
        isInScalar = true;
        digits = code >= DIGIT_0 && code <= DIGIT_9 ? digits + 1 : 0;
        if (digits === LONG_DIGITS) survey.hasLongInteger = true;
        continue;
    }
    isInScalar = false;
    digits = 0;
  }
  return survey;
}

/** The position of the closing quote of the text that begins at `start`. */
function endOfText(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}

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
  const { depth, values, hasLongInteger } = measureJson(text, MAX_JSON_DEPTH, mostValues);
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
export function parseWrittenJson(text: string): WireValue {
  return sourceTextJson.parse(text, (_key, value, { source }) =>
    typeof value !== 'number' || Number.isSafeInteger(value) || !/^-?\d+$/.test(source ?? '')
      ? value
      : BigInt(source ?? ''),
  ) as WireValue;
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
