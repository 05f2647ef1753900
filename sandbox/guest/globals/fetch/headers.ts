/** A name and a value as Headers keep them: the name in lower case. */
export type HeaderPair = [name: string, value: string];

const NAME = /^[!#$%&'*+\-.^_`|~\w]+$/;
// oxlint-disable-next-line no-control-regex -- these are what a value must not hold
const BAD_VALUE = /[\0\r\n]/;
const EDGES = /^[\t\n\r ]+|[\t\n\r ]+$/g;

let pairsIn: (headers: Headers) => HeaderPair[];

/** HTTP headers (Fetch Standard 5.1). */
export class Headers {
  #pairs: HeaderPair[] = [];

  static {
    pairsIn = (headers) => headers.#pairs;
  }

  constructor(init?: unknown) {
    if (init === undefined) return;
    for (const [name, value] of pairsOf(init)) this.append(name, value);
  }

  append(name: unknown, value: unknown): void {
    this.#pairs.push([nameOf(name), valueOf(value)]);
  }

  delete(name: unknown): void {
    const wanted = nameOf(name);
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
    const first = this.#pairs.findIndex(([other]) => other === pair[0]);
    if (first < 0) this.#pairs.push(pair);
    else this.#pairs = this.#pairs.with(first, pair).filter(([other], index) => index <= first || other !== pair[0]);
  }

  forEach(callback: (value: string, name: string, headers: Headers) => void, self?: unknown): void {
    if (typeof callback !== 'function') throw new TypeError('The callback is not a function');
    for (const [name, value] of this) Reflect.apply(callback, self, [value, name, this]);
  }

  // By index and not over a copy: what is changed on the way is seen (Web IDL 3.7.10).
  *entries(): IterableIterator<HeaderPair> {
    for (let index = 0; index < this.#sorted().length; index++) {
      const [name, value] = this.#sorted()[index] as HeaderPair;
      yield [name, value];
    }
  }

  *keys(): IterableIterator<string> {
    for (const [name] of this.entries()) yield name;
  }

  *values(): IterableIterator<string> {
    for (const [, value] of this.entries()) yield value;
  }

  [Symbol.iterator](): IterableIterator<HeaderPair> {
    return this.entries();
  }

  get [Symbol.toStringTag](): string {
    return 'Headers';
  }

  /** By name, each name once; only cookies cannot be combined (Fetch Standard 2.2.2, sort and combine). */
  #sorted(): HeaderPair[] {
    const names = [...new Set(this.#pairs.map(([name]) => name))].sort();
    return names.flatMap((name): HeaderPair[] =>
      name === 'set-cookie' ? this.getSetCookie().map((value) => [name, value]) : [[name, this.get(name) ?? '']],
    );
  }
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
    return Reflect.ownKeys(init)
      .filter((key) => Reflect.getOwnPropertyDescriptor(init, key)?.enumerable === true)
      .map((key) => [byteString(key), (init as Record<string | symbol, unknown>)[key]]);
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
