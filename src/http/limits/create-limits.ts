import type { Clock } from '../../domain/clock.ts';
import type { Log } from '../../observability/log.ts';
import type { RelayerLimit } from '../../services/relayer-access.ts';
import type { Buckets } from '../../store/buckets.ts';
import type { RateLimiter } from './rate-limit.ts';
import { RateLimitOfInstances } from './rate-limit-of-instances.ts';
import { createRelayerLimit } from './relayer-limit.ts';
import { TokenBuckets } from './token-buckets.ts';

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
  { buckets, clock, log }: { buckets: Buckets | null; clock: Pick<Clock, 'elapsed'>; log: Log },
): { limiter: RateLimiter; relayerLimit: RelayerLimit | undefined } {
  const rate = { perSecond: settings.RATE_LIMIT_REQUESTS_PER_SECOND, burst: settings.RATE_LIMIT_BURST_SIZE };
  const local = new TokenBuckets(rate, clock);
  const limiter = buckets === null ? local : new RateLimitOfInstances({ local, buckets, rate, log });
  const { RELAYER_RATE_LIMIT_REQUESTS_PER_SECOND: perSecond, RELAYER_RATE_LIMIT_BURST_SIZE: burst } = settings;
  return { limiter, relayerLimit: perSecond === 0 ? undefined : createRelayerLimit(limiter, { perSecond, burst }) };
}
