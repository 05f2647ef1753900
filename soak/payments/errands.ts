import { seededUnit } from '../../test/support/seeded.ts';
import type { Intention } from './intention.ts';

/** The plugin through which some errands go: it pays for each of its `payments` and returns their ids. */
export const PAYER = 'payer';

/** What a client asks for in one request. */
export interface Errand<I extends Intention = Intention> {
  /** Null: it is sent without one, and only once, unless its content makes it one. */
  readonly key: string | null;
  /** A request for one transaction, or the call of a plugin that sends them. */
  readonly way: 'api' | 'plugin';
  readonly intentions: readonly I[];
  /** How often it is posted at once. */
  readonly posts: number;
}

/** What share goes through a plugin, and what share of the others has no key: of most, and of those that need none. */
const THROUGH_PLUGIN = 0.2;
const WITHOUT_KEY = 0.1;
const WITHOUT_NEEDED_KEY = 0.5;
/** What share of those that may be posted twice at once is. */
const TWICE = 0.4;
/** The most payments of one plugin call. */
const MOST_PAYMENTS = 3;

/** Puts the requests of a run into errands, about in their order; the same for the same seed. */
export function errandsOf<I extends Intention>(seed: number, intentions: readonly I[]): Errand<I>[] {
  const errands: Errand<I>[] = [];
  let payments: I[] = [];
  for (const intention of intentions) {
    const unit = (purpose: string) => seededUnit(seed, 'errand', intention.index, purpose);
    if (unit('way') >= THROUGH_PLUGIN) {
      const withoutKey = intention.isOneByContent ? WITHOUT_NEEDED_KEY : WITHOUT_KEY;
      const posts = intention.isOneByContent && unit('posts') < TWICE ? 2 : 1;
      errands.push({ ...errandOf(intention, unit('key') >= withoutKey), posts });
      continue;
    }
    payments.push(intention);
    if (payments.length < 1 + Math.floor(unit('size') * MOST_PAYMENTS)) continue;
    errands.push({ key: payments[0]?.key ?? null, way: 'plugin', intentions: payments, posts: 1 });
    payments = [];
  }
  return payments.length === 0 ? errands : [...errands, ...payments.map((intention) => errandOf(intention))];
}

/** One request by itself. */
export function errandOf<I extends Intention>(intention: I, keyed = true): Errand<I> {
  return { key: keyed ? intention.key : null, way: 'api', intentions: [intention], posts: 1 };
}
