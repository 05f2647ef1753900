/** What a database says of its own past. A copy of it says the same until it is written to. */
export interface History {
  /** The latest last. A new one begins where a copy was put back and it was said what that means; none: never in use. */
  epochs: readonly string[];
  /** Where the database was when it was written to last (`Store.place`). */
  place: string | null;
  /** How far each instance came, by the id of its data folder. */
  marks: ReadonlyMap<string, Mark>;
}

/** How far an instance came: it rises as long as the instance runs, and nobody else moves it. */
export interface Mark {
  count: number;
  /** By the store's clock; 0 when the instance ended in good order. */
  at: number;
}
