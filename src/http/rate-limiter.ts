import type { Clock } from '../domain/clock.ts';
import { AppError, invalidRequest } from '../domain/errors.ts';
import type { KeyRate } from '../features/api-keys/records/api-key.ts';
import type { RelayerLimit } from '../features/relayers/relayer-access.ts';
import type { Log } from '../observability/log.ts';
import type { SharedTokenBuckets } from '../store/instances.ts';

/** The state of a caller's bucket after one more request. */
export interface RateVerdict {
  allowed: boolean;
  /** The size of the bucket. */
  limit: number;
  /** Whole tokens left. */
  remaining: number;
  /** Seconds until the bucket is full again. */
  resetSeconds: number;
  /** Seconds until the next token; 0 when there is one. */
  retryAfterSeconds: number;
}

/** Counts requests by subject. A subject is an accepted key, the address of a caller without one, or a relayer. */
export interface RateLimiter {
  /**
   * Takes tokens from the subject's bucket, all or none.
   * @param rate the subject's own rate, if any
   * @param count 1 by default; at most the burst, because the bucket never holds more
   */
  take(subject: string, rate?: KeyRate, count?: number): RateVerdict | Promise<RateVerdict>;
}

/** The prefix of a key's subject, before its id. No address begins like this, nor anything a caller can make up. */
export const KEY_SUBJECT = 'key ';

/** The prefix of an existing relayer's subject. */
const RELAYER_SUBJECT = 'relayer ';

/** Whether the subject is a key or relayer of the service, not a name that a stranger can make up. */
function isOwn(subject: string): boolean {
  return subject.startsWith(KEY_SUBJECT) || subject.startsWith(RELAYER_SUBJECT);
}

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

interface RateLimitOfInstancesParts {
  /** Counts addresses. While the database does not answer, it counts keys and relayers too. */
  local: RateLimiter;
  buckets: SharedTokenBuckets;
  rate: Pick<TokenBucketSettings, 'perSecond' | 'burst'>;
  log: Log;
}

/**
 * Limits keys and relayers across all instances. Each instance counts addresses by itself: a caller without a key must
 * not make the service write to its database.
 */
class RateLimitOfInstances implements RateLimiter {
  readonly #parts: RateLimitOfInstancesParts;

  constructor(parts: RateLimitOfInstancesParts) {
    this.#parts = parts;
  }

  take(subject: string, rate?: KeyRate, count = 1): RateVerdict | Promise<RateVerdict> {
    if (!isOwn(subject)) return this.#parts.local.take(subject, rate, count);
    return this.#takeShared(subject, rate ?? this.#parts.rate, count);
  }

  async #takeShared(subject: string, rate: KeyRate, count: number): Promise<RateVerdict> {
    const { buckets, local, log } = this.#parts;
    const tokenUs = Math.max(1, Math.round(1_000_000 / rate.perSecond));
    const fullUs = tokenUs * rate.burst;
    try {
      const { allowed, missingUs } = await buckets.take(subject, { tokenUs, fullUs }, count);
      return {
        allowed,
        limit: rate.burst,
        remaining: Math.max(0, Math.floor((fullUs - missingUs) / tokenUs)),
        resetSeconds: Math.ceil(missingUs / 1_000_000),
        retryAfterSeconds: allowed ? 0 : Math.max(1, Math.ceil((missingUs + count * tokenUs - fullUs) / 1_000_000)),
      };
    } catch (error) {
      log.warn({ err: error }, 'the shared rate limit is not available; this instance counts by itself');
      return local.take(subject, rate, count);
    }
  }
}

/** The variables of the rate limits. */
interface LimitSettings {
  RATE_LIMIT_REQUESTS_PER_SECOND: number;
  RATE_LIMIT_BURST_SIZE: number;
  /** 0: relayers have no limit. */
  RELAYER_RATE_LIMIT_REQUESTS_PER_SECOND: number;
  RELAYER_RATE_LIMIT_BURST_SIZE: number;
}

/**
 * Makes the rate limits of keys, addresses and relayers. With shared buckets, the limits of keys and relayers hold for
 * all instances together.
 */
export function createLimits(
  settings: LimitSettings,
  { buckets, clock, log }: { buckets: SharedTokenBuckets | null; clock: Pick<Clock, 'elapsed'>; log: Log },
): { limiter: RateLimiter; relayerLimit: RelayerLimit | undefined } {
  const rate = { perSecond: settings.RATE_LIMIT_REQUESTS_PER_SECOND, burst: settings.RATE_LIMIT_BURST_SIZE };
  const local = new TokenBuckets(rate, clock);
  const limiter = buckets === null ? local : new RateLimitOfInstances({ local, buckets, rate, log });
  const { RELAYER_RATE_LIMIT_REQUESTS_PER_SECOND: perSecond, RELAYER_RATE_LIMIT_BURST_SIZE: burst } = settings;
  return { limiter, relayerLimit: perSecond === 0 ? undefined : createRelayerLimit(limiter, { perSecond, burst }) };
}

/** Limits the requests to each relayer, over all keys and plugins together. */
function createRelayerLimit(limiter: RateLimiter, rate: KeyRate): RelayerLimit {
  return {
    async take(relayerId, count = 1) {
      const { perSecond, burst } = rate;
      if (count > burst)
        throw invalidRequest(`${count} calls are more than the ${burst} that ${relayerId} takes at once`);
      const { allowed, retryAfterSeconds } = await limiter.take(`${RELAYER_SUBJECT}${relayerId}`, rate, count);
      if (allowed) return;
      const facts = { relayer: relayerId, limit: String(perSecond), burst: String(burst) };
      throw new AppError('RELAYER_LIMITED', facts, { retryAfterSeconds });
    },
  };
}
