import '../domain/json/issue-text.ts';
import { type FastifyError, type FastifyInstance, fastify } from 'fastify';
import { validatorCompiler } from 'fastify-type-provider-zod';
import { pluginCallOperations } from '../features/plugins/operations.ts';
import { withNearRelayer } from '../features/relayers/relayers.ts';
import type { TransactionEvents } from '../features/transactions/transaction-events.ts';
import { hookOperations, MAX_WEBHOOK_BYTES } from '../features/triggers/operations.ts';
import type { AcceptedKeys } from './access/authenticate.ts';
import { admitRequests, Drain, limitHandlers } from './admission.ts';
import {
  answerClientError,
  answerExpectations,
  cutStalledReaders,
  type HttpServer,
  listenOn,
  TurnEnd,
} from './connections.ts';
import { answerText } from './envelope.ts';
import { answerFailure } from './errors.ts';
import { EventSource } from './events/event-source.ts';
import { honourIdempotencyKeys } from './idempotency-hook.ts';
import { type ApiParts, refuseUndeclared, register } from './operation.ts';
import { API_OPERATIONS } from './operation-table.ts';
import type { RateLimiter } from './rate-limiter.ts';
import {
  acceptAnythingAsJson,
  acceptBytes,
  acceptJson,
  accessOf,
  makeParametersStorable,
  requestIdOf,
} from './request.ts';
import { type ConsoleParts, consoleRoutes } from './routes/console.ts';
import { descriptionOperation, pageRoutes } from './routes/pages.ts';
import { collectRoutes, noSchemaCompilers, refuseOtherMethods, routeFurtherMethodsAsOne } from './routing.ts';

export interface HttpServerDependencies extends Omit<ApiParts, 'drain' | 'source'> {
  events: TransactionEvents;
  keys: AcceptedKeys;
  limiter: RateLimiter;
  /** The parts of the browser console; null: there is no console. */
  console: ConsoleParts | null;
  /** Makes request ids. */
  newId: () => string;
}

/** How long an idle connection stays open after the server begins to close. */
const LINGER_MS = 500;

/** The API server. All answers are JSON, in the envelope except probes, raw plugin answers and `rpc`. */
export async function createHttpServer(dependencies: HttpServerDependencies): Promise<HttpServer> {
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
  const turn = new TurnEnd();
  const drain = new Drain();
  const source = new EventSource(dependencies, newId());

  routeFurtherMethodsAsOne(app);
  app.setValidatorCompiler(validatorCompiler);
  app.setReplySerializer(answerText);
  app.setErrorHandler<FastifyError>(async (thrown, request, reply) => {
    const error = await withNearRelayer(thrown, dependencies.services.relayers, accessOf(request));
    return answerFailure(dependencies, error, request, reply);
  });
  app.setNotFoundHandler(() => undefined);
  cutStalledReaders(app);
  admitRequests(app, { ...dependencies, drain });
  answerExpectations(app);
  limitHandlers(app, turn, limits.handlerSeconds);
  makeParametersStorable(app);
  honourIdempotencyKeys(app, dependencies.idempotencyKeys, (id) => dependencies.pluginHost.isDurable(id));
  turn.answerTogether(app);

  const routes = collectRoutes(app);
  refuseUndeclared(app);
  await addRoutes(app, dependencies, { ...dependencies, drain, source });
  refuseOtherMethods(app, routes);

  return {
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

/** Adds all routes, in groups that read bodies differently. */
async function addRoutes(
  app: FastifyInstance,
  { health, console }: HttpServerDependencies,
  parts: ApiParts,
): Promise<void> {
  await app.register(async (api) => {
    acceptJson(api);
    register(api, API_OPERATIONS, parts);
  });
  await app.register(async (calls) => {
    acceptAnythingAsJson(calls);
    register(calls, pluginCallOperations, parts);
  });
  await app.register(async (hooks) => {
    acceptBytes(hooks, MAX_WEBHOOK_BYTES);
    register(hooks, hookOperations, parts);
  });
  await app.register(async (pages) => {
    register(pages, [descriptionOperation], parts);
    pageRoutes(pages, { health, hasConsole: console !== null });
    if (console !== null) consoleRoutes(pages, console);
  });
}
