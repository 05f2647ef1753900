import type { LogEntry } from '../../sandbox/protocol.ts';
import type { EndedCall } from './call-log.ts';

/** So many are kept for who reads them later than they end. */
const MOST_CALLS = 1_000;
/** Of what one of them wrote: all of it together may lie in memory. */
const MOST_CHARACTERS = 8_192;

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
    this.#calls[this.#latest % MOST_CALLS] = call.lines.length === 0 ? call : { ...call, lines: kept(call.lines) };
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

/** The first lines, as far as there is room; the last of them may be cut. */
function kept(lines: readonly LogEntry[]): LogEntry[] {
  let left = MOST_CHARACTERS;
  const some: LogEntry[] = [];
  for (const { level, message } of lines) {
    if (left <= 0) {
      some.push({ level: 'warn', message: `${lines.length - some.length} more log lines were dropped` });
      break;
    }
    some.push({ level, message: message.length <= left ? message : copied(message.slice(0, left)) });
    left -= message.length + 1;
  }
  return some;
}

/** A part of a text would keep the whole of it in memory. */
function copied(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le');
}
