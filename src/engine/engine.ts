import type { Parked } from './lane/broadcast-history.ts';
import type { Unreached } from './relayers/reach.ts';

/** Drives what is stored to its end: transactions lane by lane, relayer checks. Finds its work in the store. */
export interface Engine {
  /** Takes up what was left, checks every relayer once, then watches. */
  start(): Promise<void>;
  /** A hint that a lane has something due; a lost hint only costs time. */
  wake(lane: string): void;
  /** Calls back after each committed change of a transaction; returns the way to stop that. */
  onChange(transactionId: string, listener: () => void): () => void;
  /**
   * Calls back when a transaction was accepted or changed, here or, as far as that is heard of, elsewhere; returns the
   * way to stop that.
   */
  onNews(listener: () => void): () => void;
  /** Checks a relayer once more: what its checks depend on has changed. */
  recheck(relayerId: string): void;
  /** The transactions of this instance's lanes that wait for another price, for money, for a budget or for a network. */
  parked(): Parked[];
  /** The relayers whose chain this instance does not reach. */
  unreached(): Unreached[];
  /** Finishes the step under way and starts no other. Safe to call twice. */
  close(): Promise<void>;
}
