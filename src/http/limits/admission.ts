import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../../domain/clock.ts';
import { AppError, invalidRequest } from '../../domain/errors.ts';
import { ANSWER_HEADERS } from '../answer-headers.ts';
import { createAuthenticator } from '../auth.ts';
import type { HttpMetrics } from '../http-metrics.ts';
import type { Drain } from './drain.ts';
import { limitRate, type RateLimiter } from './rate-limit.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Answers without a key. */
    isPublic?: boolean;
    /** For browsers, and no part of the described interface. */
    isPage?: boolean;
    /** Asked by what watches the service: public, never limited, and answered to the last moment. */
    isProbe?: boolean;
  }
  interface FastifyRequest {
    /** Which API key the request carries; empty without an accepted one. */
    keyId: string;
  }
}

export interface AdmissionDependencies {
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
export function admitRequests(app: FastifyInstance, dependencies: AdmissionDependencies): void {
  const { drain, limiter } = dependencies;
  const authenticate = createAuthenticator(dependencies.apiKey);
  app.decorateRequest('keyId', '');

  app.addHook('onRequest', (request, reply, done) => {
    measure(request, reply, dependencies);
    reply.headers(ANSWER_HEADERS).header('x-request-id', request.id);
    request.keyId = authenticate(request.raw.rawHeaders) ?? '';
    done();
  });
  limitRate(app, limiter);
  app.addHook('onRequest', (request, _reply, done) => {
    const { isPublic, isProbe } = request.routeOptions.config;
    if (drain.isDraining && isProbe !== true) {
      done(new AppError('UNAVAILABLE', { reason: 'The service is shutting down' }));
    } else if (hasUnclearHost(request)) {
      done(invalidRequest('There must be a host header, and only one'));
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
function measure(request: FastifyRequest, reply: FastifyReply, { drain, metrics, clock }: AdmissionDependencies): void {
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

/** From the raw headers, because Node keeps only the first: what stands before the service may go by the other. */
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
