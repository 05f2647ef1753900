import { setImmediate as nextTurn } from 'node:timers/promises';

/** To write down what is signed takes some 60 µs of the processor each; the signature itself is made elsewhere. */
export const SIGNATURES_PER_TURN = 16;

/**
 * Starts something for each item, a batch in each turn of the loop: work that waits for nothing, such as writing down
 * what is signed, would else hold up everything until all of it is done. Items that wait overlap as if all were started
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
