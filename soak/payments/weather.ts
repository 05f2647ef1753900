import type { Weather } from './chain.ts';
import { pass } from './pass.ts';

export type Range = readonly [least: number, most: number];

export interface WeatherOptions {
  /** Whether it changes at all. */
  changes: boolean;
  /** In [0, 1). */
  random(): number;
}

/** What can happen, and how likely it is; all together are as likely as 1. */
export interface Change {
  readonly likely: number;
  /** Resolves with false where it was not possible. */
  happen(sky: Sky): Promise<unknown>;
}

/** What a change is made with. */
export interface Sky {
  random(): number;
  /** A whole number of a range. */
  some(range: Range): number;
  /** Waits so many milliseconds, or until the weather clears. */
  wait(range: Range): Promise<unknown>;
}

/**
 * Starts weather that changes again and again, one change after the other.
 * @param everyMs how long it stays as it is
 * @param kinds by the name under which each is counted
 */
export function startChanges<Kind extends string>(
  { changes, random }: WeatherOptions,
  everyMs: Range,
  kinds: Readonly<Record<Kind, Change>>,
): Weather {
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
