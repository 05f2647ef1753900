import type { Clock } from '../../../domain/clock.ts';

/**
 * Loads at most once per `ttlMs`, and callers share a load that is under way. So a burst of transactions asks a node
 * once. A failure reaches the callers that wait for it and is not remembered.
 */
export function cachedFor<T>(ttlMs: number, clock: Clock, load: () => Promise<T>): () => Promise<T> {
  let flight: Promise<T> | undefined;
  let expiresAt = 0;
  return () => {
    if (flight !== undefined && clock.elapsed() < expiresAt) return flight;
    const started = load();
    flight = started;
    expiresAt = Number.POSITIVE_INFINITY;
    started.then(
      () => {
        if (flight === started) expiresAt = clock.elapsed() + ttlMs;
      },
      () => {
        if (flight === started) flight = undefined;
      },
    );
    return started;
  };
}

/**
 * Shares loads among callers, but never gives a caller the result of a load that began before it asked. A caller that
 * comes while a load is under way gets the next one. So no caller decides on a state older than its question.
 */
export function freshShared<K, T>(load: (key: K) => Promise<T>): (key: K) => Promise<T> {
  const running = new Map<K, Promise<T>>();
  const waiting = new Map<K, Promise<T>>();

  function start(key: K): Promise<T> {
    waiting.delete(key);
    const flight = load(key);
    running.set(key, flight);
    const land = () => {
      if (running.get(key) === flight) running.delete(key);
    };
    flight.then(land, land);
    return flight;
  }

  return (key) => {
    const current = running.get(key);
    if (current === undefined) return start(key);
    const queued = waiting.get(key);
    if (queued !== undefined) return queued;
    const next = current.then(
      () => start(key),
      () => start(key),
    );
    waiting.set(key, next);
    return next;
  };
}
