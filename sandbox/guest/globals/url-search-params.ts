import { Utf8Decoder } from './encoding/text-decoder.ts';
import { TextEncoder } from './encoding/text-encoder.ts';
import { conformToWebIdl, makeIterable, readWebIdlRecord } from './web-idl.ts';

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

type QueryPair = [name: string, value: string];

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

let pairsIn: (params: URLSearchParams) => readonly QueryPair[];

/** The parameters of a URL's query (URL Standard 6.2). */
export class URLSearchParams {
  declare readonly entries: () => IterableIterator<QueryPair>;
  declare readonly keys: () => IterableIterator<string>;
  declare readonly values: () => IterableIterator<string>;
  declare readonly forEach: (
    callback: (value: string, name: string, params: URLSearchParams) => void,
    self?: unknown,
  ) => void;
  declare readonly [Symbol.iterator]: () => IterableIterator<QueryPair>;
  readonly #list: QueryList;

  static {
    pairsIn = (params) => params.#list.pairs;
  }

  constructor(init: unknown = '') {
    this.#list = init instanceof QueryList ? init : new QueryList(pairsOf(init));
  }

  get size(): number {
    return this.#list.pairs.length;
  }

  append(name: unknown, value: unknown): void {
    this.#list.replace([...this.#list.pairs, [text(name), text(value)]]);
  }

  delete(name: unknown, value?: unknown): void {
    const matches = matcher(name, value);
    this.#list.replace(this.#list.pairs.filter((pair) => !matches(pair)));
  }

  get(name: unknown): string | null {
    return this.#list.pairs.find(matcher(name))?.[1] ?? null;
  }

  getAll(name: unknown): string[] {
    return this.#list.pairs.filter(matcher(name)).map(([, value]) => value);
  }

  has(name: unknown, value?: unknown): boolean {
    return this.#list.pairs.some(matcher(name, value));
  }

  /** Sets the first pair of that name and drops the others. */
  set(name: unknown, value: unknown): void {
    const matches = matcher(name);
    const { pairs } = this.#list;
    const first = pairs.findIndex(matches);
    const pair: QueryPair = [text(name), text(value)];
    if (first < 0) this.#list.replace([...pairs, pair]);
    else this.#list.replace(pairs.with(first, pair).filter((other, index) => index <= first || !matches(other)));
  }

  /** Sorts by name in UTF-16 units. Pairs of one name keep their order. */
  sort(): void {
    this.#list.replace(this.#list.pairs.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
  }

  toString(): string {
    return this.#list.toString();
  }
}

conformToWebIdl(URLSearchParams, { required: { append: 2, delete: 1, get: 1, getAll: 1, has: 1, set: 2 } });

makeIterable(URLSearchParams, pairsIn);

function matcher(name: unknown, value?: unknown): (pair: readonly [string, string]) => boolean {
  const wantedName = text(name);
  const wantedValue = value === undefined ? undefined : text(value);
  return (pair) => pair[0] === wantedName && (wantedValue === undefined || pair[1] === wantedValue);
}

function pairsOf(init: unknown): QueryPair[] {
  if ((typeof init !== 'object' || init === null) && typeof init !== 'function') return parseQuery(text(init));
  const iterate = (init as Partial<Iterable<unknown>>)[Symbol.iterator];
  if (iterate === undefined || iterate === null) {
    return readWebIdlRecord(init).map(([name, value]) => [text(name), text(value)]);
  }
  return [...(init as Iterable<Iterable<unknown>>)].map((given) => {
    const pair = [...given];
    if (pair.length !== 2) throw new TypeError('Each query pair must be an iterable [name, value] tuple');
    return [text(pair[0]), text(pair[1])];
  });
}

/** A USVString (Web IDL 3.2.12): text without lone surrogates. */
function text(value: unknown): string {
  return `${value as string}`.toWellFormed();
}
