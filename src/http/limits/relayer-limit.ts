import { AppError, invalidRequest } from '../../domain/errors.ts';
import type { KeyRate } from '../../domain/settings/api-key.ts';
import type { RelayerLimit } from '../../services/relayer-access.ts';
import { type RateLimiter, RELAYER_SUBJECT } from './rate-limit.ts';

/** Limits the requests to each relayer, over all keys and plugins together. */
export function createRelayerLimit(limiter: RateLimiter, rate: KeyRate): RelayerLimit {
  return {
    async take(relayerId, count = 1) {
      const { perSecond, burst } = rate;
      if (count > burst)
        throw invalidRequest(`${count} calls are more than the ${burst} that ${relayerId} takes at once`);
      const { allowed, retryAfterSeconds } = await limiter.take(`${RELAYER_SUBJECT}${relayerId}`, rate, count);
      if (allowed) return;
      const asked = { relayer: relayerId, limit: String(perSecond), burst: String(burst) };
      throw new AppError('RELAYER_LIMITED', asked, { retryAfterSeconds });
    },
  };
}
