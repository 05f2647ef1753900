import type { View } from '../rpc/view.ts';

/** One request to Horizon. */
export interface Asked {
  readonly view: View;
  /** The server's URL. */
  readonly base: string;
  readonly path: string;
  /** The values of the path's named segments. */
  readonly parts: Readonly<Record<string, string>>;
  /** The parameters of the form, and then those of the query. */
  readonly params: URLSearchParams;
  /** The content type of the request's body, without parameters. */
  readonly form: string;
}

export interface Route {
  readonly method: 'GET' | 'POST';
  /** The path's pattern. Segments that start with a colon are named. */
  readonly path: string;
  /** The name for faults and counts, with the prefix `horizon.`. */
  readonly name: string;
  /** Returns a resource, or throws a `Problem`. */
  readonly answer: (asked: Asked) => unknown;
  /** The status of the answer, if it is not 200. */
  readonly statusOf?: (resource: unknown) => number;
}
