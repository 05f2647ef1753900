/** The bounds of a limit, in places. */
export interface LimitSettings {
  /** Places at the beginning, and the most that there can ever be. There is always at least one. */
  start: number;
  most: number;
  /** Visits at once, however few places each takes. */
  visits: number;
}

/** How a visit went: `overloaded` makes the limit smaller, `served` lets it grow, `other` says nothing about it. */
export type VisitEnd = 'served' | 'overloaded' | 'other';

/** Places that were taken together and are given back together. */
export interface Visit {
  readonly places: number;
  leave(end: VisitEnd): void;
}

/**
 * How many calls one endpoint is given at once: additive increase, multiplicative decrease, as TCP finds its rate
 * (RFC 5681). Until the first overload the limit doubles with each round of answers, later it grows by one; it grows
 * only while it is used (RFC 7661).
 */
export interface ConcurrencyLimit {
  readonly places: number;
  /**
   * Waits for room in the order of asking. `take` gets the number of free places and returns at once how many it takes.
   * Resolves with undefined if no place comes free within `waitMs`.
   */
  enter(take: (free: number) => number, waitMs: number): Promise<Visit | undefined>;
}

interface Waiting {
  take: (free: number) => number;
  admit: (visit: Visit | undefined) => void;
  timer: NodeJS.Timeout;
}

/** Starts without visits. */
export function createConcurrencyLimit(settings: LimitSettings): ConcurrencyLimit {
  const waiting: Waiting[] = [];
  let limit = settings.start;
  let taken = 0;
  let visits = 0;
  let isQuick = true;
  let shrunk = 0;

  const places = () => Math.max(1, Math.floor(limit));
  const free = () => (visits < settings.visits ? places() - taken : 0);

  function open(take: Waiting['take']): Visit {
    const count = Math.max(1, Math.min(take(free()), free()));
    taken += count;
    visits += 1;
    const before = shrunk;
    const isUsed = taken * 2 >= places();
    let isOver = false;
    return {
      places: count,
      leave(end) {
        if (isOver) return;
        isOver = true;
        taken -= count;
        visits -= 1;
        if (end === 'served' && isUsed) grow(count);
        // One overload shows in many answers. Visits that began before it was noticed do not shrink the limit again.
        if (end === 'overloaded' && before === shrunk) shrink();
        admitNext();
      },
    };
  }

  function grow(count: number): void {
    limit = Math.min(settings.most, limit + (isQuick ? count : count / limit));
  }

  function shrink(): void {
    isQuick = false;
    limit = Math.max(1, limit / 2);
    shrunk += 1;
  }

  function admitNext(): void {
    while (free() > 0) {
      const next = waiting.shift();
      if (next === undefined) return;
      clearTimeout(next.timer);
      next.admit(open(next.take));
    }
  }

  return {
    get places() {
      return places();
    },
    enter: (take, waitMs) =>
      new Promise((resolve) => {
        if (waiting.length === 0 && free() > 0) {
          resolve(open(take));
          return;
        }
        const leave = () => {
          waiting.splice(waiting.indexOf(entry), 1);
          resolve(undefined);
        };
        const entry: Waiting = { take, admit: resolve, timer: setTimeout(leave, Math.max(0, waitMs)) };
        waiting.push(entry);
      }),
  };
}
