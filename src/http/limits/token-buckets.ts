import type { Clock } from '../../domain/clock.ts';
import type { KeyRate } from '../../domain/settings/api-key.ts';
import { isOwn, type RateLimiter, type RateVerdict } from './rate-limit.ts';

export interface TokenBucketSettings {
  /** Tokens added each second. */
  perSecond: number;
  /** Tokens of a full bucket. */
  burst: number;
  /** The most addresses kept at once. An address whose bucket is full again is dropped anyway. */
  most?: number;
}

/** About 2 MB. */
const MAX_ADDRESSES = 10_000;

/**
 * Token buckets in this process. A bucket is one number, the moment at which it will be full again (the generic cell
 * rate algorithm, ITU-T I.371). A subject without a number has a full bucket.
 *
 * Keys and relayers have a table of their own, which keeps all its buckets. Its size is bounded, because only existing
 * keys and relayers get in. A flood of addresses cannot reset their buckets.
 *
 * When there are too many addresses, the least recently used ones are dropped. This loses nothing: a caller with so
 * many addresses has as many buckets anyway. Addresses are in two tables: a recent one and an earlier one, which is
 * dropped as a whole. So a request changes a number in place. Removing an entry and adding it again at the end makes V8
 * copy the table again and again, and keep what was in the copies (`sandbox/call-table.ts` says why).
 */
export class TokenBuckets implements RateLimiter {
  readonly #rate: KeyRate;
  readonly #most: number;
  readonly #clock: Pick<Clock, 'elapsed'>;
  /** The moment at which each bucket is full again, on the clock's `elapsed`. The other tables hold the same. */
  readonly #own = new Map<string, number>();
  #recent = new Map<string, number>();
  #earlier: ReadonlyMap<string, number> = new Map();
  #recentSince: number;

  constructor({ perSecond, burst, most = MAX_ADDRESSES }: TokenBucketSettings, clock: Pick<Clock, 'elapsed'>) {
    this.#rate = { perSecond, burst };
    this.#most = most;
    this.#clock = clock;
    this.#recentSince = clock.elapsed();
  }

  /** The number of buckets kept now. An address that is in both tables counts twice. */
  get size(): number {
    return this.#own.size + this.#recent.size + this.#earlier.size;
  }

  take(subject: string, rate = this.#rate, count = 1): RateVerdict {
    const now = this.#clock.elapsed();
    if (isOwn(subject)) {
      const { verdict, fullAt } = taken(this.#own.get(subject), now, rate, count);
      this.#own.set(subject, fullAt);
      return verdict;
    }
    this.#forget(now);
    const { verdict, fullAt } = taken(this.#recent.get(subject) ?? this.#earlier.get(subject), now, rate, count);
    this.#recent.set(subject, fullAt);
    return verdict;
  }

  /**
   * Drops the earlier table when its addresses have not been used for the time that fills a bucket, because their
   * buckets are full. Also drops it when there are too many addresses.
   */
  #forget(now: number): void {
    const lasts = now - this.#recentSince;
    const fillMs = (this.#rate.burst * 1000) / this.#rate.perSecond;
    if (lasts < fillMs && this.#recent.size * 2 < this.#most) return;
    this.#earlier = lasts < 2 * fillMs ? this.#recent : new Map();
    this.#recent = new Map();
    this.#recentSince = now;
  }
}

/** Takes tokens from a bucket. `lastFullAt` is the moment at which it is full again; undefined: it is full. */
function taken(
  lastFullAt: number | undefined,
  now: number,
  { perSecond, burst }: KeyRate,
  count: number,
): { verdict: RateVerdict; fullAt: number } {
  const msPerToken = 1000 / perSecond;
  const before = Math.max(lastFullAt ?? now, now);
  const after = before + count * msPerToken;
  // A rounding error must not refuse the last token of a full bucket.
  const overdrawnMs = after - now - burst * msPerToken;
  const allowed = overdrawnMs <= msPerToken * 1e-6;
  const fullAt = allowed ? after : before;
  const missingMs = fullAt - now;
  const verdict = {
    allowed,
    limit: burst,
    remaining: Math.max(0, Math.floor(burst - missingMs / msPerToken + 1e-6)),
    resetSeconds: wholeSeconds(missingMs),
    retryAfterSeconds: allowed ? 0 : Math.max(1, wholeSeconds(overdrawnMs)),
  };
  return { verdict, fullAt };
}

/** Rounds up, but ignores floating-point errors. */
function wholeSeconds(ms: number): number {
  return Math.ceil(ms / 1000 - 1e-6);
}
