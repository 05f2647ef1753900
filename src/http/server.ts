import '../domain/json/issue-text.ts';
import { type FastifyError, type FastifyInstance, fastify } from 'fastify';
import { validatorCompiler } from 'fastify-type-provider-zod';
import type { Clock } from '../domain/clock.ts';
import type { Health } from '../observability/health.ts';
import type { Log } from '../observability/log.ts';
import type { Exposition } from '../observability/metrics.ts';
import type { PluginHost } from '../plugin-host/plugin-host.ts';
import type { IdempotencyKeys } from '../services/idempotency-keys.ts';
import type { ApiServices } from '../services/services.ts';
import type { TransactionEvents } from '../services/transaction-events.ts';
import type { AcceptedKeys } from './access/auth.ts';
import { declareNeeds } from './access/needs.ts';
import { admitRequests, Drain, type HttpLimits, type HttpMetrics, limitHandlers } from './admission.ts';
import {
  answerClientError,
  answerExpectations,
  answerTogether,
  cutStalledReaders,
  type HttpServer,
  listenOn,
} from './connections.ts';
import type { CursorIds, PlaceCursors } from './cursors.ts';
import { answerText } from './envelope.ts';
import { answerFailure } from './errors.ts';
import { EventSource } from './events/event-source.ts';
import { honourIdempotencyKeys } from './idempotency.ts';
import type { RateLimiter } from './rate-limiter.ts';
import { acceptJson, makeParametersStorable, requestIdOf } from './request.ts';
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
import { collectRoutes, noSchemaCompilers, type RouteTable, refuseOtherMethods } from './routing.ts';

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

/**
 * The API server, and its routes, from which the API description is made. All answers are JSON. All are in the
 * envelope, except probes, raw plugin answers and `rpc`.
 */
export interface ApiServer extends HttpServer {
  readonly routes: RouteTable;
}

export async function createHttpServer(dependencies: HttpServerDependencies): Promise<ApiServer> {
  const { limits, newId } = dependencies;
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
  await addRoutes(app, dependencies, { drain, source });
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

/** Adds all routes. Each plugin call exists with and without the prefix. */
async function addRoutes(
  app: FastifyInstance,
  dependencies: HttpServerDependencies,
  { drain, source }: { drain: Drain; source: EventSource },
): Promise<void> {
  const { services, pluginHost, metrics, health, limits } = dependencies;
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
}
