import { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import { validatorCompiler } from 'fastify-type-provider-zod';
import type { Clock } from '../domain/clock.ts';
import { AppError, invalidRequest } from '../domain/errors.ts';
import { writeJson } from '../domain/json-text.ts';
import type { Health } from '../observability/health.ts';
import type { Log } from '../observability/log.ts';
import type { PluginHost } from '../plugin-host/plugin-host.ts';
import type { Services } from '../services/services.ts';
import { createAuthenticator } from './auth.ts';
import { answerClientError } from './client-errors.ts';
import { failure } from './envelope.ts';
import { retryAfterOf, toAppError } from './errors.ts';
import { limitHandlers } from './handler-deadline.ts';
import type { HttpMetrics } from './http-metrics.ts';
import { acceptJson } from './json-body.ts';
import { collectRoutes, refuseOtherMethods } from './other-methods.ts';
import { requestIdOf } from './request-id.ts';
import { healthRoutes } from './routes/health.ts';
import { pluginRoutes } from './routes/plugins.ts';
import { relayerRoutes } from './routes/relayers.ts';
import { rpcRoutes } from './routes/rpc.ts';
import { signingRoutes } from './routes/signing.ts';
import { transactionRoutes } from './routes/transactions.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Answers without a key. */
    isPublic?: boolean;
  }
  interface FastifyRequest {
    /** Which API key the request carries; empty on public routes. */
    keyId: string;
  }
}

/** What the server is made of. */
export interface HttpServerDependencies {
  services: Services;
  pluginHost: PluginHost;
  apiKey: { id: string; key: string };
  log: Log;
  metrics: HttpMetrics;
  health: Health;
  limits: HttpLimits;
  clock: Clock;
  /** Makes request ids. */
  newId: () => string;
}

export interface HttpLimits {
  /** Largest body. */
  bodyBytes: number;
  /** How long a request may take to arrive, head and body; 408 after that. */
  arrivalSeconds: number;
  /** How long a handler may take, plugin calls excepted; 504 after that. */
  handlerSeconds: number;
}

/** The limits that no variable changes. */
export const HTTP_LIMITS = { bodyBytes: 2_097_152, arrivalSeconds: 20 } as const;

/** The API server. Answers are always JSON, in the envelope but for the probes, raw plugin answers and `rpc`. */
export interface HttpServer {
  /** Resolves with the URL that it answers at. */
  listen(where: { host: string; port: number }): Promise<string>;
  /** Takes no further request, lets those under way finish for `graceMs`, then cuts them off. Safe to call twice. */
  close(graceMs: number): Promise<void>;
}

export async function createHttpServer(dependencies: HttpServerDependencies): Promise<HttpServer> {
  const { services, pluginHost, metrics, health, limits, newId } = dependencies;
  const arrivalMs = limits.arrivalSeconds * 1000;
  const app: FastifyInstance = fastify({
    bodyLimit: limits.bodyBytes,
    requestTimeout: arrivalMs,
    // A host header is asked for below, where its absence is answered in the envelope.
    http: {
      headersTimeout: arrivalMs,
      requestTimeout: arrivalMs,
      connectionsCheckingInterval: 500,
      requireHostHeader: false,
    },
    routerOptions: { ignoreTrailingSlash: true, ignoreDuplicateSlashes: true, maxParamLength: 16_384 },
    return503OnClosing: false,
    genReqId: (request) => requestIdOf(request, newId),
    clientErrorHandler: (error, socket) => answerClientError(error, socket, limits.arrivalSeconds),
    frameworkErrors: (error, request, reply) => answerFailure(dependencies, error, request, reply),
  });
  const state = { closing: false };

  app.setValidatorCompiler(validatorCompiler);
  app.setReplySerializer(writeJson);
  app.setErrorHandler<FastifyError>((error, request, reply) => answerFailure(dependencies, error, request, reply));
  app.setNotFoundHandler(() => undefined);
  app.decorateRequest('keyId', '');
  admit(app, dependencies, state);
  endConnections(app, state);
  limitHandlers(app, limits.handlerSeconds);

  const table = collectRoutes(app);
  await app.register(
    async (api) => {
      acceptJson(api);
      healthRoutes(api, health);
      relayerRoutes(api, services.relayers);
      transactionRoutes(api, services.transactions);
      signingRoutes(api, services.signing);
      rpcRoutes(api, services.rpc);
    },
    { prefix: '/api/v1' },
  );
  await app.register(async (plugins) => pluginRoutes(plugins, pluginHost, metrics), { prefix: '/api/v1' });
  await app.register(async (plugins) => pluginRoutes(plugins, pluginHost, metrics));
  refuseOtherMethods(app, table);
  // Node would answer an unknown expectation with an empty 417; it may as well be ignored (RFC 9110, 10.1.1).
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));

  return {
    listen: ({ host, port }) => app.listen({ host, port }),
    close: async (graceMs) => {
      state.closing = true;
      const cutOff = setTimeout(() => app.server.closeAllConnections(), graceMs);
      await app.close();
      clearTimeout(cutOff);
    },
  };
}

/** Everything that is decided before a request's body is read. */
function admit(app: FastifyInstance, dependencies: HttpServerDependencies, state: { closing: boolean }): void {
  const authenticate = createAuthenticator(dependencies.apiKey);
  app.addHook('onRequest', (request, reply, done) => {
    measure(request, reply, dependencies);
    reply.header('x-request-id', request.id);
    const keyId = authenticate(request.raw.rawHeaders);
    request.keyId = keyId ?? '';
    if (state.closing) {
      done(new AppError('UNAVAILABLE', { reason: 'The service is shutting down' }));
    } else if (request.headers.host === undefined && request.raw.httpVersion === '1.1') {
      done(invalidRequest('The host header is missing'));
    } else if (keyId === undefined && request.routeOptions.config.isPublic !== true) {
      done(new AppError('UNAUTHORIZED', {}));
    } else if (request.is404) {
      done(new AppError('ROUTE_NOT_FOUND', { method: request.method, path: pathOf(request) }));
    } else {
      done();
    }
  });
}

/** Lets a connection end with the answer that is under way on it, so that closing does not wait for callers to go. */
function endConnections(app: FastifyInstance, state: { closing: boolean }): void {
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (state.closing) reply.header('connection', 'close');
    done(null, payload);
  });
}

/** Counts a request from here to the end of its answer, or to the moment its client left. */
function measure(request: FastifyRequest, reply: FastifyReply, { metrics, clock }: HttpServerDependencies): void {
  const endpoint = endpointOf(request);
  const begun = clock.elapsed();
  metrics.began(endpoint);
  reply.raw.once('close', () => {
    const seconds = (clock.elapsed() - begun) / 1000;
    metrics.ended({ endpoint, method: request.method, status: reply.statusCode, seconds });
  });
}

function answerFailure(
  { log, limits, metrics }: HttpServerDependencies,
  thrown: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const error = toAppError(thrown, { contentType: request.headers['content-type'], bodyLimit: limits.bodyBytes });
  const { id: requestId, method } = request;
  if (error.code === 'HANDLER_TIMEOUT') metrics.timedOut(endpointOf(request), method);
  if (error.status === 500) {
    log.error({ requestId, method, route: request.routeOptions.url, err: error }, 'Request failed');
  } else {
    log.debug({ requestId, method, route: request.routeOptions.url, code: error.code }, 'Request refused');
  }
  // Also for what failed before the first hook, such as a path that cannot be decoded.
  reply.header('x-request-id', requestId);
  const retryAfter = retryAfterOf(error);
  if (retryAfter !== undefined) reply.header('retry-after', retryAfter);
  // Fastify closes after a body that it refused, and the caller who is still sending would see a reset instead of
  // the answer. Node discards the rest, for as long as a request may take to arrive.
  reply.removeHeader('connection');
  return reply.code(error.status).send(failure(error));
}

/** A label: the route's pattern, so that callers cannot make new ones up. */
function endpointOf(request: FastifyRequest): string {
  return request.routeOptions.url ?? 'unmatched';
}

function pathOf(request: FastifyRequest): string {
  return request.url.split('?', 1)[0] ?? '';
}
