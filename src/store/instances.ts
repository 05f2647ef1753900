/** The list of instances on one database. It uses the database's time, so instances' clocks need not agree. */
export interface Instances {
  /** How long a report counts, in milliseconds. An instance that has not reported for longer is gone. */
  readonly lastsMs: number;
  /**
   * Reports that this instance runs, and the relayers whose chains it does not reach. Resolves with the last such
   * report of each other running instance.
   */
  say(unreached: readonly string[]): Promise<ReadonlySet<string>[]>;
  /**
   * Whether this instance, of those that it heard of last, is to take the lease with this name when nobody has it. So
   * each takes a share. Two may think so for a moment.
   */
  isOurs(name: string): boolean;
  /** Reports that this instance stops. Safe to call twice. */
  leave(): Promise<void>;
}

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

/**
 * The size of a bucket, in microseconds: how long one token takes to come back, and how long a whole bucket takes to
 * fill.
 */
export interface TokenBucketSize {
  tokenUs: number;
  fullUs: number;
}

/** The answer to a request for tokens. */
export interface TokenBucketAnswer {
  allowed: boolean;
  /**
   * How long the bucket takes to be full again, in microseconds. For a refused request, this was measured before the
   * request.
   */
  missingUs: number;
}

/** Token buckets that instances on one database share. They use the database's time. */
export interface SharedTokenBuckets {
  /**
   * Takes `count` tokens from the subject's bucket, or one token by default. Takes all or none. A new bucket is full.
   */
  take(subject: string, size: TokenBucketSize, count?: number): Promise<TokenBucketAnswer>;
}
