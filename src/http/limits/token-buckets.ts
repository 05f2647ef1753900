import type { Clock } from '../../domain/clock.ts';
import type { KeyRate } from '../../domain/settings/api-key.ts';
import { isOwn, type RateLimiter, type RateVerdict } from './rate-limit.ts';

export interface TokenBucketSettings {
  /** Tokens that come back each second. */
  perSecond: number;
  /** Tokens of a full bucket. */
  burst: number;
  /** Addresses that are remembered at once; a bucket that is full again is forgotten anyway. */
  most?: number;
}

/** About 2 MB. */
const MOST_ADDRESSES = 10_000;

/**
 * Token buckets in this process. A bucket is one number, the moment at which it will be full again (the generic cell
 * rate algorithm, ITU-T I.371), and a subject without one has a full bucket.
 *
 * Those of keys and relayers have a table of their own and are never forgotten: only one that is there is asked for by
 * its id, so there are as many as the service has of them, and a flood of addresses cannot give one its burst anew.
 *
 * When there are too many addresses, those that were used least recently are forgotten: who has that many addresses has
 * that many buckets in any case. They are kept in two tables, one of those used lately and the one before it, which is
 * forgotten as a whole. So a request changes a number in its place; to take an entry out and put it back as the last one
 * makes V8 copy the table again and again, and keep what was in the copies (`sandbox/call-table.ts` says why).
 */
export class TokenBuckets implements RateLimiter {
  readonly #rate: KeyRate;
  readonly #most: number;
  readonly #clock: Pick<Clock, 'elapsed'>;
  /** When each bucket is full again, on the clock's `elapsed`; so in the other tables. */
  readonly #own = new Map<string, number>();
  #recent = new Map<string, number>();
  #earlier: ReadonlyMap<string, number> = new Map();
  #recentSince: number;

  constructor({ perSecond, burst, most = MOST_ADDRESSES }: TokenBucketSettings, clock: Pick<Clock, 'elapsed'>) {
    this.#rate = { perSecond, burst };
    this.#most = most;
    this.#clock = clock;
    this.#recentSince = clock.elapsed();
  }

  /** Subjects that are remembered now; an address that is in both tables counts twice. */
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

  /** Those that were not used for as long as it takes to fill a bucket are full; or there are too many. */
  #forget(now: number): void {
    const lasts = now - this.#recentSince;
    const fillMs = (this.#rate.burst * 1000) / this.#rate.perSecond;
    if (lasts < fillMs && this.#recent.size * 2 < this.#most) return;
    this.#earlier = lasts < 2 * fillMs ? this.#recent : new Map();
    this.#recent = new Map();
    this.#recentSince = now;
  }
}

/** Takes tokens of a bucket that will be full at a moment; one without a moment is full. */
function taken(
  lastFullAt: number | undefined,
  now: number,
  { perSecond, burst }: KeyRate,
  count: number,
): { verdict: RateVerdict; fullAt: number } {
  const msPerToken = 1000 / perSecond;
  const before = Math.max(lastFullAt ?? now, now);
  const after = before + count * msPerToken;
  // A token's worth of rounding must not refuse the last token of a full bucket.
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

/** Rounded up, but not for what floating point adds. */
function wholeSeconds(ms: number): number {
  return Math.ceil(ms / 1000 - 1e-6);
}
