import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError } from '../../domain/errors.ts';
import type { KeyRate } from '../../domain/settings/api-key.ts';
import { subjectOfAddress } from '../client-address.ts';

/** What a caller may still do after one more request. */
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

/** Counts the requests of subjects: of keys that were accepted, and of addresses that have not shown one. */
export interface RateLimiter {
  /** Takes one token of the subject's bucket, if there is one; `rate`: where the subject has one of its own. */
  take(subject: string, rate?: KeyRate): RateVerdict | Promise<RateVerdict>;
}

/**
 * Limits requests by the key that they carry, and those without an accepted key by the address they come from: made-up
 * keys share their sender's bucket, and a caller with a key is served whatever its neighbours do.
 */
export function limitRate(app: FastifyInstance, limiter: RateLimiter): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (request.routeOptions.config.isProbe === true) {
      done();
      return;
    }
    const settle = (verdict: RateVerdict): void => {
      // draft-ietf-httpapi-ratelimit-headers-07, the form that clients know.
      reply.header('ratelimit-limit', verdict.limit);
      reply.header('ratelimit-remaining', verdict.remaining);
      reply.header('ratelimit-reset', verdict.resetSeconds);
      if (verdict.allowed) {
        done();
        return;
      }
      const { retryAfterSeconds } = verdict;
      reply.header('x-ratelimit-after', retryAfterSeconds);
      done(new AppError('TOO_MANY_REQUESTS', {}, { retryAfterSeconds }));
    };
    const verdict = limiter.take(subjectOf(request), request.identity?.rate);
    if (verdict instanceof Promise) verdict.then(settle, done);
    else settle(verdict);
  });
}

/** How the subject of an accepted key begins, before its id; no address does, nor what a caller makes up. */
export const KEY_SUBJECT = 'key ';

function subjectOf(request: FastifyRequest): string {
  return request.keyId === '' ? subjectOfAddress(request.ip) : `${KEY_SUBJECT}${request.keyId}`;
}
