import type { ParkedTransaction } from './lane/broadcast-history.ts';
import type { UnreachedRelayer } from './relayers/unreached-chains.ts';

/** Brings stored transactions to their end, lane by lane, and checks relayers. Finds its work in the store. */
export interface Engine {
  /** Resumes unfinished work, checks every relayer once, then keeps watching. */
  start(): Promise<void>;
  /** A hint that a lane has something due; a lost hint only costs time. */
  wake(lane: string): void;
  /** Calls back after each committed change of a transaction. Returns a function that stops that. */
  onChange(transactionId: string, listener: () => void): () => void;
  /**
   * Calls back when a transaction was accepted or changed, here or on another instance as far as this one hears of it.
   * Returns a function that stops that.
   */
  onNews(listener: () => void): () => void;
  /** Checks a relayer again, because something that its checks depend on has changed. */
  recheck(relayerId: string): void;
  /** The transactions of this instance's lanes that wait for a price, for money, for a budget or for a network. */
  parked(): ParkedTransaction[];
  /** The relayers whose chain this instance does not reach. */
  unreached(): UnreachedRelayer[];
  /** Finishes the step under way and starts no other. Safe to call twice. */
  close(): Promise<void>;
}
