/** The subject of a hint: a lane with work, a transaction that changed, a relayer to check anew, or settings. */
export type HintTopic = 'lane' | 'transaction' | 'relayer' | 'settings';

export interface Hint {
  topic: HintTopic;
  /** The lane's key, the transaction's or the relayer's id, or the kind of settings that changed. */
  id: string;
}

/** Hints between the instances on one database. A hint may be lost: an instance that must be sure reads the store. */
export interface Hints {
  /** Tells the other instances, soon. */
  send(hint: Hint): void;
  /**
   * Calls `listener` with other instances' hints, and with `missed` when hints may have been lost. Returns a function
   * that stops this.
   */
  listen(listener: (heard: Hint | 'missed') => void): () => void;
}

/** For a store that only one process uses. */
export const noHints: Hints = { send: () => {}, listen: () => () => {} };
