/** A request for one page: `page` counts from 1, `perPage` is 0 to 500. */
export interface PageRequest {
  page: number;
  perPage: number;
}

/** One page of a list and the size of the whole. */
export interface Page<T> {
  items: T[];
  total: number;
}
