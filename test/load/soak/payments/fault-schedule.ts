import type { FaultSchedule } from './chain.ts';
import { pass } from './pass.ts';

export type Range = readonly [least: number, most: number];

export interface FaultScheduleOptions {
  /** False: the schedule of faults never changes. */
  changes: boolean;
  /** In [0, 1). */
  random(): number;
}

/** A kind of change. */
export interface Change {
  /** Its probability. Those of all kinds sum up to 1. */
  readonly likely: number;
  /** Resolves with false if it was not possible. */
  happen(sky: Sky): Promise<unknown>;
}

/** Tools for a change. */
export interface Sky {
  random(): number;
  /** A random integer in the range. */
  some(range: Range): number;
  /** Waits for a random time in the range, in milliseconds, or until the schedule of faults clears. */
  wait(range: Range): Promise<unknown>;
}

/**
 * Starts a schedule of random changes, one after the other.
 * @param everyMs the pause before each change
 * @param kinds by the name under which each is counted
 */
export function startChanges<Kind extends string>(
  { changes, random }: FaultScheduleOptions,
  everyMs: Range,
  kinds: Readonly<Record<Kind, Change>>,
): FaultSchedule {
  const fair = new AbortController();
  const counts = new Map<string, number>();
  const between = ([least, most]: Range) => least + random() * (most - least);
  const wait = (range: Range) => pass(between(range), fair.signal);
  const sky: Sky = { random, wait, some: (range) => Math.round(between(range)) };
  const all = Object.entries<Change>(kinds);

  async function change(): Promise<void> {
    while (await wait(everyMs)) {
      const unit = random();
      let bound = 0;
      const [name, kind] = all.find(([, { likely }]) => unit < (bound += likely)) ?? all[0] ?? [];
      if (name === undefined || kind === undefined) return;
      if ((await kind.happen(sky)) !== false) counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  }

  const changing = changes ? change() : Promise.resolve();
  const clear = () => {
    fair.abort();
    return changing;
  };
  return { counts, clear, stop: clear };
}
