/** A request for one page: `page` counts from 1, `perPage` is 0 to 500. */
export interface PageRequest {
  page: number;
  perPage: number;
}

/** A request for a part of a list that only grows, the latest first: at most `limit` entries, those before a place. */
export interface ListPartRequest {
  /** Null: from the latest on. */
  before: number | null;
  limit: number;
}

/** A part of such a list. It may be shorter than was asked for. Only a part without a `next` is the end of the list. */
export interface ListPart<T> {
  items: T[];
  /** The place before which the list goes on; null at its end. */
  next: number | null;
}

/** One page of a list and the size of the whole. */
export interface Page<T> {
  items: T[];
  total: number;
}
