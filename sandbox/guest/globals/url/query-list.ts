import { parseForm, serializeForm } from '../fetch/form-urlencoded.ts';

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
