import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError, invalidRequest } from '../../domain/errors.ts';
import type { KeyRate } from '../../domain/settings/api-key.ts';
import { subjectOfAddress } from '../client-address.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * Counts a request that asks for several things as so many requests of its key. Nothing may have been done before.
     * @throws AppError `TOO_MANY_REQUESTS`; `INVALID_REQUEST` for more than the key may ever ask for at once
     */
    countAs(many: number, request: FastifyRequest, reply: FastifyReply): Promise<void>;
  }
  interface FastifyRequest {
    /** The most requests that its key may make at once. */
    burst: number;
  }
}

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

/** Counts the requests of subjects: of keys that were accepted, of addresses that have not shown one, of relayers. */
export interface RateLimiter {
  /**
   * Takes tokens of the subject's bucket, all or none.
   * @param rate where the subject has one of its own
   * @param count 1 where none is given; at most the burst, as more are never there
   */
  take(subject: string, rate?: KeyRate, count?: number): RateVerdict | Promise<RateVerdict>;
}

/**
 * Limits requests by the key that they carry, and those without an accepted key by the address they come from: made-up
 * keys share their sender's bucket, and a caller with a key is served whatever its neighbours do.
 */
export function limitRate(app: FastifyInstance, limiter: RateLimiter): void {
  app.decorateRequest('burst', 0);
  app.decorate('countAs', async (many: number, request: FastifyRequest, reply: FastifyReply) => {
    const further = many - 1;
    if (further <= 0) return;
    // Its first token is taken already.
    if (many > request.burst) {
      throw invalidRequest(`${many} at once are more than the ${request.burst} that this key may ask for at once`);
    }
    const refusal = told(reply, await limiter.take(subjectOf(request), request.identity?.rate, further));
    if (refusal !== undefined) throw refusal;
  });
  app.addHook('onRequest', (request, reply, done) => {
    if (request.routeOptions.config.isProbe === true) {
      done();
      return;
    }
    const settle = (verdict: RateVerdict): void => {
      request.burst = verdict.limit;
      done(told(reply, verdict));
    };
    const verdict = limiter.take(subjectOf(request), request.identity?.rate);
    if (verdict instanceof Promise) verdict.then(settle, done);
    else settle(verdict);
  });
}

/** Writes a verdict into the answer's headers; returns the refusal where it is one. */
function told(reply: FastifyReply, verdict: RateVerdict): AppError | undefined {
  // draft-ietf-httpapi-ratelimit-headers-07, the form that clients know.
  reply.header('ratelimit-limit', verdict.limit);
  reply.header('ratelimit-remaining', verdict.remaining);
  reply.header('ratelimit-reset', verdict.resetSeconds);
  if (verdict.allowed) return undefined;
  const { retryAfterSeconds } = verdict;
  reply.header('x-ratelimit-after', retryAfterSeconds);
  return new AppError('TOO_MANY_REQUESTS', {}, { retryAfterSeconds });
}

/** How the subject of an accepted key begins, before its id; no address does, nor what a caller makes up. */
const KEY_SUBJECT = 'key ';

/** The same of a relayer that is there. */
export const RELAYER_SUBJECT = 'relayer ';

/** Whether a subject is one of those that the service has, and not one that a stranger can make up. */
export function isOwn(subject: string): boolean {
  return subject.startsWith(KEY_SUBJECT) || subject.startsWith(RELAYER_SUBJECT);
}

function subjectOf(request: FastifyRequest): string {
  return request.keyId === '' ? subjectOfAddress(request.ip) : `${KEY_SUBJECT}${request.keyId}`;
}
