import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../domain/clock.ts';
import { AppError, invalidRequest } from '../domain/errors.ts';
import { createAuthenticator } from './auth.ts';
import type { Drain } from './drain.ts';
import type { HttpMetrics } from './http-metrics.ts';
import { limitRate, type RateLimiter } from './rate-limit.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Answers without a key. */
    isPublic?: boolean;
    /** Asked by what watches the service: public, never limited, and answered to the last moment. */
    isProbe?: boolean;
  }
  interface FastifyRequest {
    /** Which API key the request carries; empty without an accepted one. */
    keyId: string;
  }
}

export interface GateDependencies {
  apiKey: { id: string; key: string };
  limiter: RateLimiter;
  drain: Drain;
  metrics: HttpMetrics;
  clock: Clock;
}

/**
 * Everything that is decided before a request's body is read, in this order: who asks, whether too often, whether the
 * service takes requests at all, whether the key lets this one in, whether there is such a route.
 */
export function guardGate(app: FastifyInstance, dependencies: GateDependencies): void {
  const { drain, limiter } = dependencies;
  const authenticate = createAuthenticator(dependencies.apiKey);
  app.decorateRequest('keyId', '');

  app.addHook('onRequest', (request, reply, done) => {
    measure(request, reply, dependencies);
    reply.header('x-request-id', request.id);
    request.keyId = authenticate(request.raw.rawHeaders) ?? '';
    done();
  });
  limitRate(app, limiter);
  app.addHook('onRequest', (request, _reply, done) => {
    const { isPublic, isProbe } = request.routeOptions.config;
    if (drain.isDraining && isProbe !== true) {
      done(new AppError('UNAVAILABLE', { reason: 'The service is shutting down' }));
    } else if (request.headers.host === undefined && request.raw.httpVersion === '1.1') {
      done(invalidRequest('The host header is missing'));
    } else if (request.keyId === '' && isPublic !== true) {
      done(new AppError('UNAUTHORIZED', {}));
    } else if (request.is404) {
      done(new AppError('ROUTE_NOT_FOUND', { method: request.method, path: pathOf(request) }));
    } else {
      done();
    }
  });

  // A connection ends with the answer that is under way on it, so that closing does not wait for callers to go.
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (drain.isDraining) reply.header('connection', 'close');
    done(null, payload);
  });
}

/** A request's label: the route's pattern, so that callers cannot make new ones up. */
export function endpointOf(request: FastifyRequest): string {
  return request.routeOptions.url ?? 'unmatched';
}

/** Counts a request from here to the end of its answer, or to the moment its client left. */
function measure(request: FastifyRequest, reply: FastifyReply, { drain, metrics, clock }: GateDependencies): void {
  const endpoint = endpointOf(request);
  const begun = clock.elapsed();
  const { method } = request;
  metrics.began(endpoint);
  drain.began();
  reply.raw.on('close', () => {
    drain.ended();
    metrics.ended({ endpoint, method, status: reply.statusCode, seconds: (clock.elapsed() - begun) / 1000 });
  });
}

function pathOf(request: FastifyRequest): string {
  return request.url.split('?', 1)[0] ?? '';
}
