import { conformToWebIdl, makeIterable, readWebIdlRecord } from '../web-idl.ts';

/** A name and a value as Headers keep them: the name in lower case. */
export type HeaderPair = [name: string, value: string];

const NAME = /^[!#$%&'*+\-.^_`|~\w]+$/;
// oxlint-disable-next-line no-control-regex -- these are what a value must not hold
const BAD_VALUE = /[\0\r\n]/;
const EDGES = /^[\t\n\r ]+|[\t\n\r ]+$/g;

let pairsIn: (headers: Headers) => HeaderPair[];
let sortedIn: (headers: Headers) => HeaderPair[];
let fix: (headers: Headers) => void;

/** HTTP headers (Fetch Standard 5.1). */
export class Headers {
  declare readonly entries: () => IterableIterator<HeaderPair>;
  declare readonly keys: () => IterableIterator<string>;
  declare readonly values: () => IterableIterator<string>;
  declare readonly forEach: (callback: (value: string, name: string, headers: Headers) => void, self?: unknown) => void;
  declare readonly [Symbol.iterator]: () => IterableIterator<HeaderPair>;
  #pairs: HeaderPair[] = [];
  #isFixed = false;

  static {
    pairsIn = (headers) => headers.#pairs;
    sortedIn = (headers) => headers.#sorted();
    fix = (headers) => {
      headers.#isFixed = true;
    };
  }

  constructor(init?: unknown) {
    if (init === undefined) return;
    for (const [name, value] of pairsOf(init)) this.append(name, value);
  }

  append(name: unknown, value: unknown): void {
    const pair: HeaderPair = [nameOf(name), valueOf(value)];
    this.#change();
    this.#pairs.push(pair);
  }

  delete(name: unknown): void {
    const wanted = nameOf(name);
    this.#change();
    this.#pairs = this.#pairs.filter(([other]) => other !== wanted);
  }

  get(name: unknown): string | null {
    const wanted = nameOf(name);
    const values = this.#pairs.filter(([other]) => other === wanted).map(([, value]) => value);
    return values.length === 0 ? null : values.join(', ');
  }

  getSetCookie(): string[] {
    return this.#pairs.filter(([name]) => name === 'set-cookie').map(([, value]) => value);
  }

  has(name: unknown): boolean {
    const wanted = nameOf(name);
    return this.#pairs.some(([other]) => other === wanted);
  }

  /** Sets the first header of that name and drops the others. */
  set(name: unknown, value: unknown): void {
    const pair: HeaderPair = [nameOf(name), valueOf(value)];
    this.#change();
    const first = this.#pairs.findIndex(([other]) => other === pair[0]);
    if (first < 0) this.#pairs.push(pair);
    else this.#pairs = this.#pairs.with(first, pair).filter(([other], index) => index <= first || other !== pair[0]);
  }

  #change(): void {
    if (this.#isFixed) throw new TypeError('These headers cannot be changed');
  }

  /**
   * The headers sorted by name, with the values of each name combined. Only cookies cannot be combined (Fetch Standard
   * 2.2.2, sort and combine).
   */
  #sorted(): HeaderPair[] {
    const names = [...new Set(this.#pairs.map(([name]) => name))].sort();
    return names.flatMap((name): HeaderPair[] =>
      name === 'set-cookie' ? this.getSetCookie().map((value) => [name, value]) : [[name, this.get(name) ?? '']],
    );
  }
}

conformToWebIdl(Headers, { required: { append: 2, delete: 1, get: 1, has: 1, set: 2 } });
makeIterable(Headers, (headers) => sortedIn(headers));

/** Makes headers unchangeable for a plugin (Fetch Standard 5.1, the guard "immutable"). */
export function makeHeadersImmutable(headers: Headers): Headers {
  fix(headers);
  return headers;
}

/** The headers line by line, in the order in which they were given. */
export function headerLines(headers: Headers): HeaderPair[] {
  return pairsIn(headers).map(([name, value]) => [name, value]);
}

function pairsOf(init: unknown): [unknown, unknown][] {
  if ((typeof init !== 'object' && typeof init !== 'function') || init === null) {
    throw new TypeError('Headers take a list of pairs or an object');
  }
  const iterate = (init as Partial<Iterable<unknown>>)[Symbol.iterator];
  if (iterate === undefined || iterate === null) {
    return readWebIdlRecord(init);
  }
  return [...(init as Iterable<Iterable<unknown>>)].map((given) => {
    const pair = typeof given === 'object' && given !== null ? [...given] : [];
    if (pair.length !== 2) throw new TypeError('Each header must be a pair of name and value');
    return [pair[0], pair[1]];
  });
}

function nameOf(given: unknown): string {
  const name = byteString(given);
  if (!NAME.test(name)) throw new TypeError(`Header name '${name}' is invalid`);
  return name.toLowerCase();
}

function valueOf(given: unknown): string {
  const value = byteString(given).replace(EDGES, '');
  if (BAD_VALUE.test(value)) throw new TypeError('A header value holds a line break or a null');
  return value;
}

/** A ByteString (Web IDL 3.2.11). */
function byteString(given: unknown): string {
  if (typeof given === 'symbol') throw new TypeError('A symbol cannot be a header');
  const text = String(given);
  for (let index = 0; index < text.length; index++) {
    if (text.charCodeAt(index) > 0xff) throw new TypeError(`Character ${index} of a header is no byte`);
  }
  return text;
}
