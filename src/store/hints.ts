/** What a hint is about: a lane with work, a transaction that changed, a relayer that is to be checked anew, settings. */
export type HintTopic = 'lane' | 'transaction' | 'relayer' | 'settings';

export interface Hint {
  topic: HintTopic;
  /** The lane's key, the transaction's or the relayer's id, or what kind of settings changed. */
  id: string;
}

/** Words between the instances on one database. Each may be lost: who needs to be sure looks into the store. */
export interface Hints {
  /** Tells the other instances, soon. */
  send(hint: Hint): void;
  /** Hears the other instances, and when hints may have been missed; returns the way to stop that. */
  listen(listener: (heard: Hint | 'missed') => void): () => void;
}

/** For a store that one process has for itself. */
export const noHints: Hints = { send: () => {}, listen: () => () => {} };
