import { keptLines } from './call-lines.ts';
import type { EndedCall } from './call-log.ts';

/** So many are kept for who reads them later than they end. */
const MOST_CALLS = 1_000;
/** Of what one of them wrote: all of it together may lie in memory. */
const ROOM = { lines: Number.POSITIVE_INFINITY, characters: 8_192 };

/** The calls that follow a place, and how many of them are not kept any more. */
export interface FollowingCalls {
  calls: readonly EndedCall[];
  missed: number;
  /** Of the last of them. */
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
    this.#calls[this.#latest % MOST_CALLS] =
      call.lines.length === 0 ? call : { ...call, lines: keptLines(call.lines, ROOM) };
    for (const listener of this.#listeners) listener.call();
  }

  /** Those that follow, at most `limit`. A place that was never given is taken for the latest. */
  after(place: number, limit: number): FollowingCalls {
    const from = Math.min(place, this.#latest);
    const first = Math.max(from + 1, this.#latest - MOST_CALLS + 1);
    const last = Math.min(this.#latest, first + limit - 1);
    const calls = Array.from({ length: last - first + 1 }, (_, at) => this.#calls[(first + at) % MOST_CALLS]);
    return { calls: calls.filter((call) => call !== undefined), missed: first - from - 1, place: last };
  }

  /** Calls back after each call; returns the way to stop that. */
  onCall(listener: () => void): () => void {
    const entry = { call: listener };
    this.#listeners.add(entry);
    return () => this.#listeners.delete(entry);
  }
}
