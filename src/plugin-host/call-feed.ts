import { withKeptLines } from './call-lines.ts';
import type { EndedCall } from './call-log.ts';

/** So many are kept for who reads them later than they end. */
const MOST_CALLS = 1_000;
/** Of what one of them wrote: all of it together may lie in memory. */
const ROOM = { lines: Number.POSITIVE_INFINITY, characters: 8_192 };

/** The latest calls that follow a place, the oldest of them first. */
export interface FollowingCalls {
  calls: readonly EndedCall[];
  /** There were more, or there may have been: some are not kept any more. */
  isCut: boolean;
  /** Of the last call that ended. */
  place: number;
}

/** The last calls of all plugins that have ended, each with its place. In memory, of this instance. */
export class CallFeed {
  readonly #calls: (EndedCall | undefined)[] = [];
  readonly #listeners = new Set<{ call: () => void }>();
  #latest = 0;

  /** The place of the last one; 0 before the first. */
  get latest(): number {
    return this.#latest;
  }

  add(call: EndedCall): void {
    this.#latest += 1;
    this.#calls[this.#latest % MOST_CALLS] = withKeptLines(call, ROOM);
    for (const listener of this.#listeners) listener.call();
  }

  /** The latest of those that follow and are wanted, at most `most`. A place that was never given is taken for the latest. */
  after(place: number, most: number, isWanted: (call: EndedCall) => boolean): FollowingCalls {
    const from = Math.min(place, this.#latest);
    const first = Math.max(from + 1, this.#latest - MOST_CALLS + 1);
    const calls: EndedCall[] = [];
    let isCut = first > from + 1;
    for (let at = this.#latest; at >= first; at -= 1) {
      const call = this.#calls[at % MOST_CALLS];
      if (call === undefined || !isWanted(call)) continue;
      if (calls.length === most) {
        isCut = true;
        break;
      }
      calls.push(call);
    }
    return { calls: calls.reverse(), isCut, place: this.#latest };
  }

  /** Calls back after each call; returns the way to stop that. */
  onCall(listener: () => void): () => void {
    const entry = { call: listener };
    this.#listeners.add(entry);
    return () => this.#listeners.delete(entry);
  }
}
