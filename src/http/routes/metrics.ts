import type { FastifyInstance, FastifyReply } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { AppError } from '../../domain/errors.ts';
import type { Exposition } from '../../observability/metrics.ts';

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
export function scrapeRoutes(app: FastifyInstance, metrics: Exposition): void {
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
