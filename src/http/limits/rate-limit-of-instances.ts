import type { KeyRate } from '../../domain/settings/api-key.ts';
import type { Log } from '../../observability/log.ts';
import type { Buckets } from '../../store/buckets.ts';
import type { RateLimiter, RateVerdict } from './rate-limit.ts';
import { isOwn } from './rate-limit.ts';
import type { TokenBucketSettings } from './token-buckets.ts';

export interface RateLimitOfInstancesParts {
  /** Counts addresses. While the database does not answer, it counts keys and relayers too. */
  local: RateLimiter;
  buckets: Buckets;
  rate: Pick<TokenBucketSettings, 'perSecond' | 'burst'>;
  log: Log;
}

/**
 * Limits keys and relayers across all instances. Each instance counts addresses by itself: a caller without a key must
 * not make the service write to its database.
 */
export class RateLimitOfInstances implements RateLimiter {
  readonly #parts: RateLimitOfInstancesParts;

  constructor(parts: RateLimitOfInstancesParts) {
    this.#parts = parts;
  }

  take(subject: string, rate?: KeyRate, count = 1): RateVerdict | Promise<RateVerdict> {
    if (!isOwn(subject)) return this.#parts.local.take(subject, undefined, count);
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
