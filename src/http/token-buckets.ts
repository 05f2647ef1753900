import type { Clock } from '../domain/clock.ts';
import type { RateLimiter, RateVerdict } from './rate-limit.ts';

export interface TokenBucketSettings {
  /** Tokens that come back each second. */
  perSecond: number;
  /** Tokens of a full bucket. */
  burst: number;
  /** Subjects that are remembered at once; a bucket that is full again is forgotten anyway. */
  most?: number;
}

/** About 2 MB. */
const MOST_SUBJECTS = 10_000;

/**
 * Token buckets in this process. A bucket is one number, the moment at which it will be full again (the generic cell
 * rate algorithm, ITU-T I.371), and a subject without one has a full bucket. When there are too many, the one that was
 * used least recently is forgotten: who has that many addresses has that many buckets in any case.
 */
export class TokenBuckets implements RateLimiter {
  readonly #msPerToken: number;
  readonly #burst: number;
  readonly #most: number;
  readonly #clock: Pick<Clock, 'elapsed'>;
  /** When each bucket is full again, on the clock's `elapsed`; the least recently used first. */
  readonly #fullAt = new Map<string, number>();

  constructor({ perSecond, burst, most = MOST_SUBJECTS }: TokenBucketSettings, clock: Pick<Clock, 'elapsed'>) {
    this.#msPerToken = 1000 / perSecond;
    this.#burst = burst;
    this.#most = most;
    this.#clock = clock;
  }

  /** Subjects that are remembered now. */
  get size(): number {
    return this.#fullAt.size;
  }

  take(subject: string): RateVerdict {
    const now = this.#clock.elapsed();
    const before = Math.max(this.#fullAt.get(subject) ?? now, now);
    const after = before + this.#msPerToken;
    // A token's worth of rounding must not refuse the last token of a full bucket.
    const overdrawnMs = after - now - this.#burst * this.#msPerToken;
    const allowed = overdrawnMs <= this.#msPerToken * 1e-6;
    this.#remember(subject, allowed ? after : before, now);
    const missingMs = (allowed ? after : before) - now;
    return {
      allowed,
      limit: this.#burst,
      remaining: Math.max(0, Math.floor(this.#burst - missingMs / this.#msPerToken + 1e-6)),
      resetSeconds: wholeSeconds(missingMs),
      retryAfterSeconds: allowed ? 0 : Math.max(1, wholeSeconds(overdrawnMs)),
    };
  }

  #remember(subject: string, fullAt: number, now: number): void {
    this.#fullAt.delete(subject);
    this.#fullAt.set(subject, fullAt);
    for (const [oldest, oldestFullAt] of this.#fullAt) {
      if (oldestFullAt > now && this.#fullAt.size <= this.#most) return;
      this.#fullAt.delete(oldest);
    }
  }
}

/** Rounded up, but not for what floating point adds. */
function wholeSeconds(ms: number): number {
  return Math.ceil(ms / 1000 - 1e-6);
}
