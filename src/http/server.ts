import { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import { validatorCompiler } from 'fastify-type-provider-zod';
import '../domain/json/issue-text.ts';
import type { Clock } from '../domain/clock.ts';
import type { ErrorCode } from '../domain/errors.ts';
import type { Health } from '../observability/health.ts';
import type { Log } from '../observability/log.ts';
import type { Exposition } from '../observability/metrics.ts';
import type { PluginHost } from '../plugin-host/plugin-host.ts';
import type { TransactionEvents } from '../services/events/transaction-events.ts';
import type { IdempotencyKeys } from '../services/idempotency-keys.ts';
import type { ApiServices } from '../services/services.ts';
import type { AcceptedKeys } from './access/auth.ts';
import { declareNeeds } from './access/needs.ts';
import { ANSWER_HEADERS } from './answers/answer-headers.ts';
import { answerText } from './answers/answer-text.ts';
import { answerTogether } from './answers/answer-together.ts';
import { failure } from './answers/envelope.ts';
import { answerClientError } from './client-errors.ts';
import type { PlaceCursors } from './cursors/place-cursors.ts';
import { challengeOf, retryAfterOf, toAppError } from './errors.ts';
import type { CursorIds } from './events/cursor.ts';
import { EventSource } from './events/event-source.ts';
import type { HttpMetrics } from './http-metrics.ts';
import { honourIdempotencyKeys } from './idempotency.ts';
import { acceptJson } from './json-body.ts';
import { admitRequests, endpointOf } from './limits/admit-requests.ts';
import { Drain } from './limits/drain.ts';
import { limitHandlers } from './limits/handler-deadline.ts';
import type { HttpLimits } from './limits/http-limits.ts';
import type { RateLimiter } from './limits/rate-limit.ts';
import { type ListenAddress, listenOn } from './listen.ts';
import { refuseOtherMethods } from './other-methods.ts';
import { makeParametersStorable } from './path-parameters.ts';
import { requestIdOf } from './request-id.ts';
import { collectRoutes, type RouteTable } from './route-table.ts';
import { apiKeyRoutes } from './routes/api-keys.ts';
import { auditRoutes } from './routes/audit.ts';
import { batchRoutes } from './routes/batches.ts';
import { type ConsoleParts, consoleRoutes } from './routes/console.ts';
import { deliveryRoutes } from './routes/deliveries.ts';
import { eventRoutes } from './routes/events.ts';
import { healthRoutes } from './routes/health.ts';
import { lifecycleRoutes } from './routes/lifecycle.ts';
import { metricRoutes } from './routes/metrics.ts';
import { networkRoutes } from './routes/networks.ts';
import { notificationRoutes } from './routes/notifications.ts';
import { pageRoutes } from './routes/pages.ts';
import { pluginRoutes, pluginViewRoutes } from './routes/plugins.ts';
import { relayerRoutes } from './routes/relayers.ts';
import { rpcRoutes } from './routes/rpc.ts';
import { signerRoutes } from './routes/signers.ts';
import { signingRoutes } from './routes/signing.ts';
import { transactionRoutes } from './routes/transactions.ts';
import { noSchemaCompilers } from './schema-compilers.ts';
import { cutStalledReaders } from './stalled-readers.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether `100 Continue` was sent. */
    isContinued: boolean;
  }
}

export interface HttpServerDependencies {
  services: ApiServices;
  events: TransactionEvents;
  /** Turns positions in the event stream into ids for clients. */
  cursorIds: CursorIds;
  /** Turns positions in the list of webhook deliveries into cursors for clients. */
  deliveryCursors: PlaceCursors;
  pluginHost: PluginHost;
  keys: AcceptedKeys;
  limiter: RateLimiter;
  idempotencyKeys: IdempotencyKeys;
  log: Log;
  metrics: HttpMetrics;
  /** The metrics that the metrics routes serve. */
  exposition: Exposition;
  health: Health;
  limits: HttpLimits;
  /** The parts of the browser console; null: there is no console. */
  console: ConsoleParts | null;
  clock: Clock;
  /** Makes request ids. */
  newId: () => string;
}

/** How long an idle connection stays open after the server begins to close. */
const LINGER_MS = 500;

/** The API server. All answers are JSON. All are in the envelope, except probes, raw plugin answers and `rpc`. */
export interface HttpServer {
  /**
   * Starts listening; resolves with the URL.
   * @throws Error that names the variable to change when the address cannot be had
   */
  listen(where: ListenAddress): Promise<string>;
  /**
   * Answers new requests with 503 and lets running requests finish for `graceMs`. Then stops listening and closes the
   * remaining connections. The probes answer until then. Safe to call twice.
   */
  close(graceMs: number): Promise<void>;
}

/** The server and its routes, from which the API description is made. */
export interface ApiServer extends HttpServer {
  readonly routes: RouteTable;
}

export async function createHttpServer(dependencies: HttpServerDependencies): Promise<ApiServer> {
  const { services, pluginHost, metrics, health, limits, newId } = dependencies;
  const arrivalMs = limits.arrivalSeconds * 1000;
  const app: FastifyInstance = fastify({
    schemaController: noSchemaCompilers,
    bodyLimit: limits.bodyBytes,
    requestTimeout: arrivalMs,
    connectionTimeout: limits.unreadSeconds * 1000,
    // `admitRequests` checks the host header, so that a refusal is in the envelope.
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
  const drain = new Drain();
  const source = new EventSource(dependencies, newId());

  app.setValidatorCompiler(validatorCompiler);
  app.setReplySerializer(answerText);
  app.setErrorHandler<FastifyError>((error, request, reply) => answerFailure(dependencies, error, request, reply));
  app.setNotFoundHandler(() => undefined);
  cutStalledReaders(app);
  admitRequests(app, { ...dependencies, drain });
  answerExpectations(app);
  limitHandlers(app, limits.handlerSeconds);
  makeParametersStorable(app);
  honourIdempotencyKeys(app, dependencies.idempotencyKeys);
  answerTogether(app);

  const routes = collectRoutes(app);
  declareNeeds(app);
  await app.register(
    async (api) => {
      acceptJson(api);
      healthRoutes(api, health, drain);
      relayerRoutes(api, services.relayers);
      transactionRoutes(api, services.transactions);
      batchRoutes(api, {
        transactions: services.transactions,
        keys: dependencies.idempotencyKeys,
        log: dependencies.log,
      });
      lifecycleRoutes(api, services.lifecycle);
      pluginViewRoutes(api, pluginHost, services.plugins);
      notificationRoutes(api, services.notifications);
      deliveryRoutes(api, services.deliveries, dependencies.deliveryCursors);
      signingRoutes(api, services.signing);
      rpcRoutes(api, services.rpc);
      signerRoutes(api, services.signers);
      networkRoutes(api, services.networks);
      apiKeyRoutes(api, services.apiKeys);
      auditRoutes(api, services.audit);
      eventRoutes(api, { source, ids: dependencies.cursorIds, clock: dependencies.clock, ending: drain.signal });
      metricRoutes(api, dependencies.exposition);
    },
    { prefix: '/api/v1' },
  );
  await app.register(async (plugins) => pluginRoutes(plugins, { pluginHost, metrics, limits }), { prefix: '/api/v1' });
  await app.register(async (plugins) => pluginRoutes(plugins, { pluginHost, metrics, limits }));
  await app.register(async (pages) => {
    pageRoutes(pages, { health, hasConsole: dependencies.console !== null });
    if (dependencies.console !== null) consoleRoutes(pages, dependencies.console);
  });
  refuseOtherMethods(app, routes);

  return {
    routes,
    listen: (where) => listenOn(app, where),
    close: async (graceMs) => {
      await drain.start(graceMs);
      // The remaining connections have no complete request, or their request ran out of time.
      const cutOff = setTimeout(() => app.server.closeAllConnections(), Math.min(graceMs, LINGER_MS));
      await app.close();
      clearTimeout(cutOff);
    },
  };
}

/**
 * Answers `Expect: 100-continue` only when the request is admitted and its body is not too large (RFC 9110, 10.1.1).
 * Node would answer it before the key is known. An unknown expectation is ignored; Node would answer it with an empty
 * 417.
 */
function answerExpectations(app: FastifyInstance): void {
  const { server } = app;
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  server.on('checkContinue', (request, response) => server.emit('request', request, response));
  app.decorateRequest('isContinued', false);
  app.addHook('preParsing', (request, reply, _payload, done) => {
    const { headers, routeOptions } = request;
    // Fastify refuses a larger body next.
    if (awaitsContinue(request) && !(Number(headers['content-length']) > routeOptions.bodyLimit)) {
      request.isContinued = true;
      reply.raw.writeContinue();
    }
    done();
  });
}

/** Whether the client waits for `100 Continue` before it sends its body. */
function awaitsContinue({ raw, headers, isContinued }: FastifyRequest): boolean {
  return !isContinued && raw.httpVersion === '1.1' && /\b100-continue\b/i.test(headers.expect ?? '');
}

/** Refusals because of the caller's key. They are logged at `info`, so that an operator sees them. */
const OF_KEYS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'UNAUTHORIZED',
  'NOT_PERMITTED',
  'PERMISSION_NOT_HELD',
  'ORIGIN_NOT_ALLOWED',
]);

function answerFailure(
  { log, metrics }: HttpServerDependencies,
  thrown: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const error = toAppError(thrown, {
    contentType: request.headers['content-type'],
    bodyLimit: request.routeOptions.bodyLimit,
  });
  const { id: requestId, method, keyId } = request;
  if (error.code === 'HANDLER_TIMEOUT') metrics.timedOut(endpointOf(request), method);
  if (error.status === 500) {
    log.error({ requestId, keyId, method, route: request.routeOptions.url, err: error }, 'request failed');
  } else {
    const level = OF_KEYS.has(error.code) ? 'info' : 'debug';
    log[level]({ requestId, keyId, method, route: request.routeOptions.url, code: error.code }, 'request refused');
  }
  // Sets the headers here too, for requests that failed before the first hook, such as a path that cannot be decoded.
  reply.headers({ ...ANSWER_HEADERS, 'x-request-id': requestId });
  const retryAfter = retryAfterOf(error);
  if (retryAfter !== undefined) reply.header('retry-after', retryAfter);
  if (error.code === 'UNAUTHORIZED') reply.header('www-authenticate', challengeOf(request.headers.authorization));
  // The caller may now send its body or not, so what follows on the connection cannot be read.
  if (awaitsContinue(request)) return reply.header('connection', 'close').code(error.status).send(failure(error));
  // Keeps the connection open after a refused body. Fastify would close it, and a caller that is still sending would
  // see a reset instead of the answer. Node discards the rest of the body within the time limit for a request to
  // arrive.
  reply.removeHeader('connection');
  return reply.code(error.status).send(failure(error));
}
