import { Utf8Decoder } from '../encoding/text-decoder.ts';
import { TextEncoder } from '../encoding/text-encoder.ts';

const UNRESERVED = /[A-Za-z0-9*._-]/;

/** Parses application/x-www-form-urlencoded text into pairs (URL Standard 5.1). */
export function parseForm(text: string): [string, string][] {
  return text
    .split('&')
    .filter((piece) => piece !== '')
    .map((piece) => {
      const equals = piece.indexOf('=');
      const name = equals < 0 ? piece : piece.slice(0, equals);
      return [decode(name), equals < 0 ? '' : decode(piece.slice(equals + 1))];
    });
}

/** Writes pairs as application/x-www-form-urlencoded text (URL Standard 5.2). */
export function serializeForm(pairs: readonly (readonly [string, string])[]): string {
  return pairs.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&');
}

function encode(text: string): string {
  let out = '';
  for (const byte of new TextEncoder().encode(text)) {
    const char = String.fromCharCode(byte);
    if (byte === 0x20) out += '+';
    else if (UNRESERVED.test(char)) out += char;
    else out += `%${byte < 16 ? '0' : ''}${byte.toString(16).toUpperCase()}`;
  }
  return out;
}

function decode(text: string): string {
  const spaced = text.replaceAll('+', ' ');
  if (!spaced.includes('%')) return spaced;
  const bytes = new TextEncoder().encode(spaced);
  let length = 0;
  for (let index = 0; index < bytes.length; index++) {
    const escape =
      bytes[index] === 0x25 ? /^%([0-9A-Fa-f]{2})/.exec(String.fromCharCode(...bytes.slice(index, index + 3))) : null;
    if (escape !== null) index += 2;
    bytes[length++] = escape === null ? (bytes[index] as number) : Number.parseInt(escape[1] as string, 16);
  }
  return new Utf8Decoder(false).decode(bytes.subarray(0, length), true);
}

export type QueryPair = [name: string, value: string];

/**
 * The list of pairs behind a URLSearchParams. The list of a URL tells the URL of each change. Plugins never get a list.
 */
export class QueryList {
  #pairs: QueryPair[];
  readonly #changed: (query: string) => void;

  constructor(pairs: QueryPair[], changed: (query: string) => void = () => {}) {
    this.#pairs = pairs;
    this.#changed = changed;
  }

  get pairs(): readonly QueryPair[] {
    return this.#pairs;
  }

  /** Takes new pairs and tells the URL. */
  replace(pairs: QueryPair[]): void {
    this.#pairs = pairs;
    this.#changed(this.toString());
  }

  /** Takes the pairs of a query that was set on the URL, with or without its question mark. */
  reload(query: string): void {
    this.#pairs = parseQuery(query);
  }

  toString(): string {
    return serializeForm(this.#pairs);
  }
}

/** The pairs of a query with or without its question mark. */
export function parseQuery(query: string): QueryPair[] {
  return parseForm(query.startsWith('?') ? query.slice(1) : query);
}
