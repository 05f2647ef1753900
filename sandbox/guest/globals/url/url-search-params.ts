import { conform, makeIterable, recordOf } from '../web-idl.ts';
import { parseQuery, QueryList, type QueryPair } from './query-list.ts';

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

conform(URLSearchParams, { required: { append: 2, delete: 1, get: 1, getAll: 1, has: 1, set: 2 } });
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
    return recordOf(init).map(([name, value]) => [text(name), text(value)]);
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
