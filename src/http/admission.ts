import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../domain/clock.ts';
import { AppError, invalidRequest } from '../domain/errors.ts';
import type { Access } from '../features/api-keys/records/access.ts';
import { allowsOrigin } from '../features/api-keys/records/api-key.ts';
import type { Metrics } from '../observability/metrics.ts';
import { type AcceptedKeys, createAuthenticator, type Identity } from './access/authenticate.ts';
import { permissionRefusal } from './access/permission-check.ts';
import type { TurnEnd } from './connections.ts';
import { ANSWER_HEADERS } from './envelope.ts';
import { limitRate } from './rate-limit.ts';
import type { RateLimiter } from './rate-limiter.ts';
import { configOf } from './routing.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route needs no key. */
    isPublic?: boolean;
    /** The route is a page for browsers and not part of the described API. */
    isPage?: boolean;
    /** The answer lasts as long as its client stays connected. Metrics count the time until the answer begins. */
    isStream?: boolean;
    /** The route is for monitoring: public, never rate limited, and answered until the server stops. */
    isProbe?: boolean;
  }
  interface FastifyInstance {
    /** The current access of the request's key; undefined when the key no longer admits the request. */
    accessNow(request: FastifyRequest): Access | undefined;
  }
  interface FastifyRequest {
    /** The id of the request's API key; empty without an accepted key. */
    keyId: string;
    /** The request's API key; null without an accepted key. */
    identity: Identity | null;
  }
}

interface AdmissionDependencies {
  keys: Pick<AcceptedKeys, 'master' | 'withHash'>;
  limiter: RateLimiter;
  drain: Drain;
  metrics: Metrics;
  clock: Clock;
}

/**
 * Handles a request before its body is read. Identifies the key, then checks in this order: the rate limit, whether the
 * service is shutting down, whether a missing key is allowed, whether the route exists, whether the key permits the
 * request.
 */
export function admitRequests(app: FastifyInstance, dependencies: AdmissionDependencies): void {
  const { drain, limiter } = dependencies;
  const authenticate = createAuthenticator(dependencies.keys, () => dependencies.clock.now());
  app.decorate('accessNow', (request: FastifyRequest) => {
    const identity = authenticate(request.raw.rawHeaders);
    return identity === undefined || refusalOf(request, identity) !== undefined ? undefined : identity.access;
  });
  app.decorateRequest('config', null);
  app.decorateRequest('keyId', '');
  app.decorateRequest('identity', null);

  app.addHook('onRequest', (request, reply, done) => {
    measure(request, reply, dependencies);
    reply.headers(ANSWER_HEADERS).header('x-request-id', request.id);
    const identity = authenticate(request.raw.rawHeaders);
    if (identity !== undefined) {
      request.identity = identity;
      request.keyId = identity.id;
    }
    done();
  });
  limitRate(app, limiter);
  app.addHook('onRequest', (request, _reply, done) => {
    const { identity } = request;
    const { isPublic, isProbe, url } = configOf(request);
    if (drain.isDraining && isProbe !== true) {
      done(new AppError('UNAVAILABLE', { reason: 'The service is shutting down' }));
    } else if (hasUnclearHost(request)) {
      done(invalidRequest('There must be a host header, and only one'));
    } else if (request.keyId === '' && isPublic !== true) {
      done(new AppError('UNAUTHORIZED', {}));
    } else if (url === undefined) {
      done(new AppError('ROUTE_NOT_FOUND', { method: request.method, path: pathOf(request) }));
    } else if (identity === null) {
      done();
    } else {
      done(refusalOf(request, identity));
    }
  });

  // Closes each connection after the answer under way on it, so that closing does not wait for callers to leave.
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (drain.isDraining) reply.header('connection', 'close');
    done(null, payload);
  });
}

/** Returns the error when the key does not permit the request; undefined when it does. */
function refusalOf(request: FastifyRequest, { access, allowedOrigins }: Identity): AppError | undefined {
  const { origin } = request.headers;
  if (origin !== undefined && allowedOrigins !== undefined && !allowsOrigin(allowedOrigins, origin)) {
    return new AppError('ORIGIN_NOT_ALLOWED', { origin });
  }
  return permissionRefusal(request, access);
}

/** Returns the metrics label of a request. It is the route's pattern, so that callers cannot make up new labels. */
export function endpointOf(request: FastifyRequest): string {
  return configOf(request).url ?? 'unmatched';
}

/** Measures a request from here until its answer ends or its client disconnects. */
function measure(request: FastifyRequest, reply: FastifyReply, { drain, metrics, clock }: AdmissionDependencies): void {
  const endpoint = endpointOf(request);
  const begun = clock.elapsed();
  const { method } = request;
  const inFlight = { endpoint };
  metrics.count('http_requests_in_flight', inFlight);
  drain.began();
  let answered: number | undefined;
  if (configOf(request).isStream === true) {
    reply.raw.once('pipe', () => {
      answered = clock.elapsed();
    });
  }
  reply.raw.on('close', () => {
    drain.ended();
    const seconds = ((answered ?? clock.elapsed()) - begun) / 1000;
    const labels = { endpoint, method, status: reply.statusCode };
    metrics.count('http_requests_in_flight', inFlight, -1);
    metrics.count('http_requests', labels);
    metrics.observe('http_request_duration', labels, seconds);
  });
}

/** Reads the raw headers, because Node keeps only the first `host`, and a proxy may have used the second. */
function hasUnclearHost({ raw: { rawHeaders, httpVersion } }: FastifyRequest): boolean {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 'host'.length && name.toLowerCase() === 'host') count += 1;
  }
  return count > 1 || (count === 0 && httpVersion === '1.1');
}

function pathOf(request: FastifyRequest): string {
  return request.url.split('?', 1)[0] ?? '';
}

/**
 * Counts the requests under way. While draining, no new requests are admitted, and closing can wait for the running
 * ones.
 */
export class Drain {
  #underWay = 0;
  #isDraining = false;
  readonly #started = new AbortController();
  readonly #idle = Promise.withResolvers<void>();

  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** Aborts when draining starts. Answers without an end of their own stop then. */
  get signal(): AbortSignal {
    return this.#started.signal;
  }

  began(): void {
    this.#underWay += 1;
  }

  ended(): void {
    this.#underWay -= 1;
    if (this.#isDraining && this.#underWay === 0) this.#idle.resolve();
  }

  /** Stops admitting requests. Resolves when no request is under way, at the latest after `graceMs`. */
  async start(graceMs: number): Promise<void> {
    this.#isDraining = true;
    this.#started.abort();
    if (this.#underWay === 0) return;
    const limit = setTimeout(this.#idle.resolve, graceMs);
    await this.#idle.promise;
    clearTimeout(limit);
  }
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route ends its requests by itself: plugin calls have their own `timeout`. */
    ownDeadline?: boolean;
  }
}

/**
 * Answers 504 for a slow handler. The time starts once the body has arrived; a slow sender gets 408. A handler that
 * answers within its turn of the event loop needs no timer.
 */
export function limitHandlers(app: FastifyInstance, turn: TurnEnd, seconds: number): void {
  let begun: FastifyReply[] = [];
  const limitBegun = (): void => {
    const replies = begun;
    begun = [];
    for (const reply of replies) {
      if (!reply.raw.writableEnded && !reply.raw.destroyed) limit(reply);
    }
  };
  const limit = (reply: FastifyReply): void => {
    const timer = setTimeout(() => {
      if (!reply.sent && !reply.raw.headersSent)
        reply.send(new AppError('HANDLER_TIMEOUT', { seconds: String(seconds) }));
    }, seconds * 1000);
    reply.raw.once('close', () => clearTimeout(timer));
  };
  app.addHook('preHandler', (request, reply, done) => {
    if (configOf(request).ownDeadline !== true && begun.push(reply) === 1) turn.afterAnswers(limitBegun);
    done();
  });
}

/** The limits of one request. */
export interface HttpLimits {
  /** Largest body. No request that a chain takes is half as large. */
  bodyBytes: number;
  /** Largest body of a plugin call. */
  pluginBodyBytes: number;
  /** How long a request may take to arrive, head and body; 408 after that. */
  arrivalSeconds: number;
  /** How long a caller may leave an answer unread before its connection is cut. */
  unreadSeconds: number;
  /** How long a handler may take, plugin calls excepted; 504 after that. */
  handlerSeconds: number;
}

/** The limits that no variable changes. */
export const HTTP_LIMITS = {
  bodyBytes: 524_288,
  pluginBodyBytes: 2_097_152,
  arrivalSeconds: 20,
  unreadSeconds: 30,
} as const;
