import type { View } from '../rpc/view.ts';

/** One request at a Horizon. */
export interface Asked {
  readonly view: View;
  /** Where the server is reached. */
  readonly base: string;
  readonly path: string;
  /** The named segments of the path. */
  readonly parts: Readonly<Record<string, string>>;
  /** The query's parameters and those of a form, the form's first. */
  readonly params: URLSearchParams;
  /** The content type of what came with the request, without its parameters. */
  readonly form: string;
}

export interface Route {
  readonly method: 'GET' | 'POST';
  /** Segments behind colons are named. */
  readonly path: string;
  /** The name for faults and counts, with the prefix `horizon.`. */
  readonly name: string;
  /** Answers with a resource; what it throws is a `Problem`. */
  readonly answer: (asked: Asked) => unknown;
  /** The status of the answer, if it is not 200. */
  readonly statusOf?: (resource: unknown) => number;
}
