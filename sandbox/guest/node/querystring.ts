import { nodeError } from './node-error.ts';

/** Letters, digits and `! ' ( ) * - . _ ~` stay (https://nodejs.org/api/querystring.html#querystringescapestr). */
function escape(given: unknown): string {
  const text = String(given);
  try {
    return encodeURIComponent(text);
  } catch {
    throw nodeError('ERR_INVALID_URI', 'URI malformed', URIError);
  }
}

/** The bytes of a text with escapes. Broken escapes stay as they are. */
function unescapeBuffer(text: unknown, plusIsSpace = false): Buffer {
  const bytes = Buffer.from(String(text), 'latin1');
  const out: number[] = [];
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index] as number;
    const code = byte === 0x25 ? hexAt(bytes, index + 1) : undefined;
    if (code !== undefined) index += 2;
    out.push(code ?? (plusIsSpace && byte === 0x2b ? 0x20 : byte));
  }
  return Buffer.from(out);
}

function hexAt(bytes: Uint8Array, index: number): number | undefined {
  const digits = String.fromCharCode(bytes[index] ?? 0, bytes[index + 1] ?? 0);
  return /^[\da-f]{2}$/i.test(digits) ? Number.parseInt(digits, 16) : undefined;
}

function unescape(text: unknown, plusIsSpace?: boolean): string {
  try {
    return decodeURIComponent(String(text));
  } catch {
    return unescapeBuffer(text, plusIsSpace).toString();
  }
}

/** The text of a value in a query. A value without such a text is empty. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : '';
  return typeof value === 'bigint' || typeof value === 'boolean' ? String(value) : '';
}

function stringify(
  given: unknown,
  separator?: string | null,
  equals?: string | null,
  options: { encodeURIComponent?: (text: string) => string } = {},
): string {
  if (typeof given !== 'object' || given === null) return '';
  const encode =
    typeof options?.encodeURIComponent === 'function'
      ? options.encodeURIComponent
      : (text: string) => querystring.escape(text);
  const pairs: string[] = [];
  for (const key of Object.keys(given)) {
    const value = (given as Record<string, unknown>)[key];
    const name = encode(key) + (equals || '=');
    for (const one of Array.isArray(value) ? value : [value]) pairs.push(name + encode(textOf(one)));
  }
  return pairs.join(separator || '&');
}

function parse(
  text: unknown,
  separator?: string | null,
  equals?: string | null,
  options: { maxKeys?: number; decodeURIComponent?: (text: string) => string } = {},
): Record<string, string | string[]> {
  const found = { __proto__: null } as unknown as Record<string, string | string[]>;
  if (typeof text !== 'string' || text === '') return found;
  const custom = options?.decodeURIComponent;
  const decode = (part: string) => {
    if (part === '') return '';
    const spaced = part.replaceAll('+', custom === undefined ? ' ' : '%20');
    if (custom === undefined) return querystring.unescape(spaced);
    try {
      return custom(spaced);
    } catch {
      return unescape(spaced, true);
    }
  };
  const most = typeof options?.maxKeys === 'number' ? options.maxKeys : 1000;
  const pairs = text.split(separator ? String(separator) : '&');
  const sign = equals ? String(equals) : '=';
  for (const pair of most > 0 ? pairs.slice(0, most) : pairs) {
    if (pair === '') continue;
    const at = pair.indexOf(sign);
    const key = decode(at === -1 ? pair : pair.slice(0, at));
    const value = at === -1 ? '' : decode(pair.slice(at + sign.length));
    const before = found[key];
    if (before === undefined) found[key] = value;
    else if (typeof before === 'string') found[key] = [before, value];
    else before.push(value);
  }
  return found;
}

/** Node's module `querystring`. Code may replace its functions, and the others then use the replacements. */
export const querystring = { unescapeBuffer, unescape, escape, stringify, encode: stringify, parse, decode: parse };
