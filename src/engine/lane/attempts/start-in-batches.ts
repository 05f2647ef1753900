import { setImmediate as nextTurn } from 'node:timers/promises';

/** Encoding a transaction takes some 60 µs of processor time; its signature is made elsewhere. */
export const SIGNATURES_PER_TURN = 16;

/**
 * Starts work for each item, one batch in each turn of the event loop. Otherwise work that does not wait, such as
 * encoding transactions, would block the loop until all of it is done. Items that wait overlap as if all were started
 * at once.
 */
export async function startInBatches<T, R>(
  items: readonly T[],
  perTurn: number,
  start: (item: T, index: number) => Promise<R>,
): Promise<PromiseSettledResult<R>[]> {
  const turns: Promise<PromiseSettledResult<R>[]>[] = [];
  for (let first = 0; first < items.length; first += perTurn) {
    if (first > 0) await nextTurn();
    const some = items.slice(first, first + perTurn);
    turns.push(Promise.allSettled(some.map((item, place) => start(item, first + place))));
  }
  return (await Promise.all(turns)).flat();
}
