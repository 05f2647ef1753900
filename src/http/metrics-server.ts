import { fastify } from 'fastify';
import { validatorCompiler } from 'fastify-type-provider-zod';
import { AppError } from '../domain/errors.ts';
import type { Exposition } from '../observability/metrics.ts';
import { listenOn } from './connections.ts';
import { ANSWER_HEADERS, failure } from './envelope.ts';
import { toAppError } from './errors.ts';
import { scrapeRoutes } from './routes/metrics.ts';
import { noSchemaCompilers } from './routing.ts';
import type { HttpServer } from './server.ts';

/** The time for a request to arrive. A scrape has no body, so it arrives fast. */
const ARRIVAL_MS = 5000;
/** A connection without traffic for this long is closed, also while its answer is not read. */
const QUIET_MS = 30_000;

/** The server on the metrics port. It needs no API key. It serves only the metrics, and they contain no secrets. */
export function createMetricsServer(metrics: Exposition): HttpServer {
  const app = fastify({
    schemaController: noSchemaCompilers,
    bodyLimit: 1024,
    requestTimeout: ARRIVAL_MS,
    connectionTimeout: QUIET_MS,
    http: { headersTimeout: ARRIVAL_MS, requestTimeout: ARRIVAL_MS, connectionsCheckingInterval: 1000 },
    forceCloseConnections: true,
  });
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(ANSWER_HEADERS);
    done();
  });
  app.setValidatorCompiler(validatorCompiler);
  app.setErrorHandler((thrown, request, reply) => {
    const error = toAppError(thrown, { contentType: request.headers['content-type'], bodyLimit: 1024 });
    return reply.code(error.status).send(failure(error));
  });
  app.setNotFoundHandler((request) => {
    throw new AppError('ROUTE_NOT_FOUND', { method: request.method, path: request.url });
  });
  scrapeRoutes(app, metrics);
  return {
    listen: (where) => listenOn(app, where),
    close: () => app.close(),
  };
}
