import { type EndedCall, fitCallLog } from './call-log.ts';

/** How many ended calls are kept for readers that ask later. */
const MAX_CALLS = 1_000;
/** How much of one call's log is kept. All kept logs lie in memory together. */
const ROOM = { lines: Number.POSITIVE_INFINITY, characters: 8_192 };

/** The latest calls that ended after a place, the oldest of them first. */
export interface CallFeedPage {
  calls: readonly EndedCall[];
  /** True when there were more calls, or may have been: older calls are no longer kept. */
  isCut: boolean;
  /** The place of the last call that ended. */
  place: number;
}

/** The last ended calls of all plugins, each with its place. Kept in memory, only for this instance. */
export class CallFeed {
  readonly #calls: (EndedCall | undefined)[] = [];
  readonly #listeners = new Set<{ call: () => void }>();
  #latest = 0;

  /** The place of the last call; 0 before the first. */
  get latest(): number {
    return this.#latest;
  }

  add(call: EndedCall): void {
    this.#latest += 1;
    this.#calls[this.#latest % MAX_CALLS] = fitCallLog(call, ROOM);
    for (const listener of this.#listeners) listener.call();
  }

  /** The latest wanted calls after `place`, at most `most`. A place that was never given counts as the latest. */
  after(place: number, most: number, isWanted: (call: EndedCall) => boolean): CallFeedPage {
    const from = Math.min(place, this.#latest);
    const first = Math.max(from + 1, this.#latest - MAX_CALLS + 1);
    const calls: EndedCall[] = [];
    let isCut = first > from + 1;
    for (let at = this.#latest; at >= first; at -= 1) {
      const call = this.#calls[at % MAX_CALLS];
      if (call === undefined || !isWanted(call)) continue;
      if (calls.length === most) {
        isCut = true;
        break;
      }
      calls.push(call);
    }
    return { calls: calls.reverse(), isCut, place: this.#latest };
  }

  /** Calls `listener` after each call that ends. Returns the function that stops this. */
  onCall(listener: () => void): () => void {
    const entry = { call: listener };
    this.#listeners.add(entry);
    return () => this.#listeners.delete(entry);
  }
}
