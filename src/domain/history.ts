/** What a database stores about its own past. A copy of it has the same history until it is written to. */
export interface History {
  /**
   * The epochs, the latest last. A new one begins when a copy was put back and an operator has said what that means.
   * Empty: the database was never in use.
   */
  epochs: readonly string[];
  /** Where the database was when it was written to last (`Store.place`). */
  place: string | null;
  /** How far each instance came, by the id of its data folder. */
  marks: ReadonlyMap<string, Mark>;
}

/** How far an instance came. The count rises as long as the instance runs; no other instance changes it. */
export interface Mark {
  count: number;
  /** By the store's clock; 0 when the instance ended in good order. */
  at: number;
}
