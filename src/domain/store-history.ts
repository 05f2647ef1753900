/** What a database stores about its own past. A copy of it has the same history until it is written to. */
export interface StoreHistory {
  /**
   * The epochs, the latest last. A new one begins when a copy was put back and an operator has said what that means.
   * Empty: the database was never in use.
   */
  epochs: readonly string[];
  /** Where the database was when it was written to last (`Store.place`). */
  place: string | null;
  /** How far each instance came, by the id of its data folder. */
  marks: ReadonlyMap<string, InstanceMark>;
  /** What an operator has released; null when nothing. */
  release: UnsignedRelease | null;
}

/**
 * An operator's word that what was accepted and not signed in a restored database was not sent either. It holds for the
 * first start after it, and only for a while, so that the next restored copy is not covered by it.
 */
export interface UnsignedRelease {
  /** The place of the last transaction that it covers, in the order of acceptance. */
  upTo: number;
  /** By the store's clock; null until an instance has started. */
  endsAt: number | null;
}

/** How far an instance came. The count rises as long as the instance runs; no other instance changes it. */
export interface InstanceMark {
  count: number;
  /** By the store's clock; 0 when the instance ended in good order. */
  at: number;
}
