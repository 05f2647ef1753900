/** What one instance lets the others know: work in a lane, a changed transaction, or that some hints were missed. */
export type Hint = { kind: 'lane'; key: string } | { kind: 'transaction'; id: string } | { kind: 'missed' };

/** Words between the instances on one database. Each may be lost: who needs to be sure looks into the store. */
export interface Hints {
  /** Tells the other instances, soon. */
  send(hint: Exclude<Hint, { kind: 'missed' }>): void;
  /** Hears the other instances; returns the way to stop that. */
  listen(listener: (hint: Hint) => void): () => void;
}

/** For a store that one process has for itself. */
export const noHints: Hints = { send: () => {}, listen: () => () => {} };
