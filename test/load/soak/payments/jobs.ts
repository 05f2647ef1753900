import { seededUnit } from '../../../support/seeded.ts';
import type { Intention } from './intention.ts';

/** Id of the plugin that some jobs call. It sends each of its `payments` and returns their ids. */
export const PAYER = 'payer';

/** One HTTP request of the client, for one or several transactions. */
export interface Job<I extends Intention = Intention> {
  /** The idempotency key. Null: sent without one, and only once, unless its content alone makes it one request. */
  readonly key: string | null;
  /** A request for one transaction, or a call of a plugin that sends one or several. */
  readonly way: 'api' | 'plugin';
  readonly intentions: readonly I[];
  /** How many times it is posted at the same time. */
  readonly posts: number;
}

/**
 * The share of requests that go through a plugin. The shares of the others that have no key: of most requests, and of
 * those with `isOneByContent`, which need none.
 */
const THROUGH_PLUGIN = 0.2;
const WITHOUT_KEY = 0.1;
const WITHOUT_UNNEEDED_KEY = 0.5;
/** The share of requests with `isOneByContent` that are posted twice at the same time. */
const TWICE = 0.4;
/** The most payments of one plugin call. */
const MAX_PAYMENTS = 3;

/** Puts the requests of a run into jobs, roughly in their order. The same seed gives the same jobs. */
export function jobsOf<I extends Intention>(seed: number, intentions: readonly I[]): Job<I>[] {
  const jobs: Job<I>[] = [];
  let payments: I[] = [];
  for (const intention of intentions) {
    const unit = (purpose: string) => seededUnit(seed, 'job', intention.index, purpose);
    if (unit('way') >= THROUGH_PLUGIN) {
      const withoutKey = intention.isOneByContent ? WITHOUT_UNNEEDED_KEY : WITHOUT_KEY;
      const posts = intention.isOneByContent && unit('posts') < TWICE ? 2 : 1;
      jobs.push({ ...jobOf(intention, unit('key') >= withoutKey), posts });
      continue;
    }
    payments.push(intention);
    if (payments.length < 1 + Math.floor(unit('size') * MAX_PAYMENTS)) continue;
    jobs.push({ key: payments[0]?.key ?? null, way: 'plugin', intentions: payments, posts: 1 });
    payments = [];
  }
  return payments.length === 0 ? jobs : [...jobs, ...payments.map((intention) => jobOf(intention))];
}

/** A job for one request, through the API. */
export function jobOf<I extends Intention>(intention: I, keyed = true): Job<I> {
  return { key: keyed ? intention.key : null, way: 'api', intentions: [intention], posts: 1 };
}
