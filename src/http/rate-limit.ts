import { isIPv6 } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import { AppError, invalidRequest } from '../domain/errors.ts';
import type { KeyRate } from '../features/api-keys/records/api-key.ts';
import { KEY_SUBJECT, type RateLimiter, type RateVerdict } from './rate-limiter.ts';
import { configOf } from './routing.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * Counts a request for several things as that many requests of its key. Call this before the request has any
     * effect.
     * @throws AppError `TOO_MANY_REQUESTS`; `INVALID_REQUEST` for more than the key may ever ask for at once
     */
    countAs(many: number, request: FastifyRequest, reply: FastifyReply): Promise<void>;
  }
  interface FastifyContextConfig {
    /** The route takes webhooks: they have a rate of their own for each address, whatever key they carry. */
    isHook?: boolean;
  }
  interface FastifyRequest {
    /** The most requests that its key may make at once. */
    burst: number;
  }
}

/**
 * Limits requests by key. Requests without an accepted key are limited by address. So invalid keys share the bucket of
 * their sender's address, and a caller with a key is not affected by neighbours at its address.
 */
export function limitRate(app: FastifyInstance, limiter: RateLimiter): void {
  app.decorateRequest('burst', 0);
  app.decorate('countAs', async (many: number, request: FastifyRequest, reply: FastifyReply) => {
    const further = many - 1;
    if (further <= 0) return;
    // The `onRequest` hook has already taken one token.
    if (many > request.burst) {
      throw tooManyAtOnce(many, request.burst);
    }
    const refusal = applyVerdict(reply, await takeAll(limiter, request, further));
    if (refusal !== undefined) throw refusal;
  });
  app.addHook('onRequest', (request, reply, done) => {
    if (configOf(request).isProbe === true) {
      done();
      return;
    }
    const settle = (verdict: RateVerdict): void => {
      request.burst = verdict.limit;
      done(applyVerdict(reply, verdict));
    };
    const verdict = takeAll(limiter, request);
    if (verdict instanceof Promise) verdict.then(settle, done);
    else settle(verdict);
  });
}

/** How many webhooks one address may deliver: in a second, and at once. */
const HOOK_RATE: KeyRate = { perSecond: 50, burst: 100 };

/**
 * Takes tokens from the bucket of the request's key, and then from those of the keys that made it, the nearest first.
 * Otherwise a key could multiply its rate by making keys. A refused request costs no token of the keys further up.
 * @returns the verdict of the bucket that has the least left
 */
function takeAll(limiter: RateLimiter, request: FastifyRequest, count = 1): RateVerdict | Promise<RateVerdict> {
  if (configOf(request).isHook === true) {
    return limiter.take(`hook ${subjectOfAddress(request.ip)}`, HOOK_RATE, count);
  }
  const { identity } = request;
  const own = limiter.take(subjectOf(request), identity?.rate, count);
  const shared = identity?.sharedRates;
  if (shared === undefined || shared.length === 0) return own;
  const further = async (): Promise<RateVerdict> => {
    let least = await own;
    for (const { id, rate } of shared) {
      if (!least.allowed) return least;
      if (rate !== null && count > rate.burst) throw tooManyAtOnce(count, rate.burst);
      const verdict = await limiter.take(`${KEY_SUBJECT}${id}`, rate ?? undefined, count);
      if (!verdict.allowed || verdict.remaining < least.remaining) least = verdict;
    }
    return least;
  };
  return further();
}

/** Writes the verdict into the answer's headers. Returns an error when the request is refused. */
function applyVerdict(reply: FastifyReply, verdict: RateVerdict): AppError | undefined {
  // draft-ietf-httpapi-ratelimit-headers-07, the form that clients know.
  reply.header('ratelimit-limit', verdict.limit);
  reply.header('ratelimit-remaining', verdict.remaining);
  reply.header('ratelimit-reset', verdict.resetSeconds);
  if (verdict.allowed) return undefined;
  const { retryAfterSeconds } = verdict;
  reply.header('x-ratelimit-after', retryAfterSeconds);
  return new AppError('TOO_MANY_REQUESTS', {}, { retryAfterSeconds });
}

function tooManyAtOnce(many: number, burst: number): AppError {
  return invalidRequest(`${many} at once are more than the ${burst} that this key may ask for at once`);
}

function subjectOf(request: FastifyRequest): string {
  return request.keyId === '' ? subjectOfAddress(request.ip) : `${KEY_SUBJECT}${request.keyId}`;
}

/**
 * Returns the name under which requests from an address are counted. An IPv6 address is cut to its first 64 bits,
 * because one customer is given a whole /64 (RFC 6177). Without the cut a customer would have 2^64 buckets. An IPv4
 * address in IPv6 form counts as the IPv4 address.
 */
export function subjectOfAddress(address: string): string {
  if (!isIPv6(address)) return `address ${address}`;
  const parsed = ipaddr.parse(address);
  if (!(parsed instanceof ipaddr.IPv6)) return `address ${address}`;
  if (parsed.isIPv4MappedAddress()) return `address ${parsed.toIPv4Address().toString()}`;
  const network = parsed.parts.slice(0, 4).map((part) => part.toString(16));
  return `address ${network.join(':')}::/64`;
}
