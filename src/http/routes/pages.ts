import { gunzipSync } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import type { Health } from '../../observability/health.ts';
import { REFERENCE_PAGE, REFERENCE_POLICY, REFERENCE_SCRIPT_PATH, referenceScript } from '../pages/api-reference.ts';
import { FRONT_PAGE_POLICY, frontPage } from '../pages/front-page.ts';

const HTML = 'text/html; charset=utf-8';
/** A new version of the script comes with a new version of the service. */
const CACHED = 'public, max-age=3600';

/** What a browser shows of the service, and its description for programs. None of it needs a key. */
export function pageRoutes(app: FastifyInstance, health: Health, openapi: () => string): void {
  const config = { isPublic: true, isPage: true };
  let script: Promise<Buffer> | undefined;

  app.get('/', { config }, async (_request, reply) =>
    reply
      .header('content-security-policy', FRONT_PAGE_POLICY)
      .type(HTML)
      .serializer(String)
      .send(frontPage(await health.check())),
  );
  app.get('/api-docs', { config }, (_request, reply) =>
    reply.header('content-security-policy', REFERENCE_POLICY).type(HTML).serializer(String).send(REFERENCE_PAGE),
  );
  app.get(REFERENCE_SCRIPT_PATH, { config }, async (request, reply) => {
    const compressed = await (script ??= referenceScript());
    const takesGzip = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '');
    if (takesGzip) reply.header('content-encoding', 'gzip');
    return reply
      .headers({ 'cache-control': CACHED, vary: 'accept-encoding' })
      .type('text/javascript; charset=utf-8')
      .send(takesGzip ? compressed : gunzipSync(compressed));
  });
  app.get('/api-docs/openapi.json', { config: { isPublic: true } }, (_request, reply) =>
    reply.type('application/json; charset=utf-8').serializer(String).send(openapi()),
  );
}
