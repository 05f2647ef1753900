import { type FastifyInstance, type FastifyReply, fastify } from 'fastify';
import { validatorCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { AppError } from '../../domain/errors.ts';
import type { Exposition } from '../../observability/metrics.ts';
import { type HttpServer, listenOn } from '../connections.ts';
import { ANSWER_HEADERS, failure } from '../envelope.ts';
import { toAppError } from '../errors.ts';
import { noSchemaCompilers } from '../routing.ts';

const TEXT_FORMAT = 'text/plain; version=0.0.4; charset=utf-8';

const params = z.object({ name: z.string() });

/** The metrics that need a key, at the reference's paths: the names, one family, everything. */
export function metricRoutes(app: FastifyInstance, metrics: Exposition): void {
  app.get('/metrics', async () => metrics.names());
  oneFamily(app, metrics);
  app.get('/debug/metrics/scrape', (_request, reply) => sendAll(reply, metrics));
}

/**
 * The metrics on their own port: everything at `/metrics` and at the reference's path. A request for JSON at `/metrics`
 * gets the names, because the reference's clients expect them. Prometheus never asks for JSON.
 */
function scrapeRoutes(app: FastifyInstance, metrics: Exposition): void {
  app.get('/metrics', (request, reply) =>
    request.headers.accept?.includes('application/json') === true ? metrics.names() : sendAll(reply, metrics),
  );
  app.get('/debug/metrics/scrape', (_request, reply) => sendAll(reply, metrics));
  oneFamily(app, metrics);
}

function oneFamily(app: FastifyInstance, metrics: Exposition): void {
  app.withTypeProvider<ZodTypeProvider>().get('/metrics/:name', { schema: { params } }, async (request, reply) => {
    const text = await metrics.family(request.params.name);
    if (text === undefined) throw new AppError('METRIC_NOT_FOUND', { name: request.params.name });
    return send(reply, `${text}\n`);
  });
}

async function sendAll(reply: FastifyReply, metrics: Exposition): Promise<FastifyReply> {
  return send(reply, await metrics.text());
}

/** Sends the text unchanged, without the envelope's serialiser. */
function send(reply: FastifyReply, text: string): FastifyReply {
  return reply
    .type(TEXT_FORMAT)
    .serializer((payload: string) => payload)
    .send(text);
}

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
