import { Readable } from 'node:stream';
import { type FastifyInstance, type FastifyReply, fastify } from 'fastify';
import { z } from 'zod';
import { AppError } from '../../domain/errors.ts';
import type { Exposition } from '../../observability/metrics.ts';
import { type HttpServer, listenOn } from '../connections.ts';
import { ANSWER_HEADERS, failure } from '../envelope.ts';
import { toAppError } from '../errors.ts';
import { operation, raw } from '../operation.ts';
import { noSchemaCompilers } from '../routing.ts';

const TEXT_FORMAT = 'text/plain; version=0.0.4; charset=utf-8';

/** The metrics that need a key, at the reference's paths: the names, one family, everything. */
export const metricOperations = [
  operation({
    method: 'GET',
    path: '/api/v1/metrics',
    permission: 'metrics:read',
    id: 'listMetrics',
    tag: 'Operations',
    summary: 'List the names of all metrics',
    answer: raw('Array of names, without the usual envelope', z.array(z.string())),
    errors: [],
    handle: (_call, { exposition }) => exposition.names(),
  }),
  operation({
    method: 'GET',
    path: '/api/v1/metrics/:name',
    permission: 'metrics:read',
    id: 'getMetric',
    tag: 'Operations',
    summary: 'Get a metric',
    answer: { ...raw('The metric, in the text format of Prometheus', z.string()), contentType: TEXT_FORMAT },
    errors: ['METRIC_NOT_FOUND'],
    handle: ({ params, reply }, { exposition }) => sendFamily(reply, exposition, params.name),
  }),
  operation({
    method: 'GET',
    path: '/api/v1/debug/metrics/scrape',
    permission: 'metrics:read',
    id: 'scrapeMetrics',
    tag: 'Operations',
    summary: 'Get all metrics (also at /metrics on the metrics port, without an API key)',
    answer: { ...raw('All metrics, in the text format of Prometheus', z.string()), contentType: TEXT_FORMAT },
    errors: [],
    handle: ({ reply }, { exposition }) => sendAll(reply, exposition),
  }),
];

/**
 * The metrics on their own port: everything at `/metrics` and at the reference's path. A request for JSON at `/metrics`
 * gets the names, because the reference's clients expect them. Prometheus never asks for JSON.
 */
function scrapeRoutes(app: FastifyInstance, metrics: Exposition): void {
  app.get('/metrics', (request, reply) =>
    request.headers.accept?.includes('application/json') === true ? metrics.names() : sendAll(reply, metrics),
  );
  app.get('/debug/metrics/scrape', (_request, reply) => sendAll(reply, metrics));
  app.get<{ Params: { name: string } }>('/metrics/:name', ({ params }, reply) =>
    sendFamily(reply, metrics, params.name),
  );
}

function sendFamily(reply: FastifyReply, metrics: Exposition, name: string): FastifyReply {
  if (!metrics.names().includes(name)) throw new AppError('METRIC_NOT_FOUND', { name });
  return send(reply, metrics.pieces(name));
}

function sendAll(reply: FastifyReply, metrics: Exposition): FastifyReply {
  return send(reply, metrics.pieces());
}

function send(reply: FastifyReply, pieces: AsyncGenerator<string>): FastifyReply {
  return reply.type(TEXT_FORMAT).send(Readable.from(pieces));
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
