import { readFile } from 'node:fs/promises';
import { createGunzip } from 'node:zlib';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError } from '../../domain/errors.ts';
import { type Health, withoutDetails } from '../../observability/health.ts';
import { REFERENCE_PAGE, REFERENCE_POLICY } from '../pages/api-reference.ts';
import { FRONT_PAGE_POLICY, frontPage } from '../pages/front-page.ts';
import { REFERENCE_SCRIPT_PATH, readReferenceScript } from '../pages/reference-script.ts';

/** `npm run client` generates this file from the routes and their schemas. */
const DESCRIPTION = new URL('../openapi/openapi.json', import.meta.url);
const HTML = 'text/html; charset=utf-8';
/** An hour is safe: the script changes only with the version of the service. */
const CACHED = 'public, max-age=3600';

export interface PageParts {
  health: Health;
  /** Whether the root path redirects browsers to the console. */
  hasConsole: boolean;
}

/** The pages for browsers, and the API description for programs. None of them needs a key. */
export function pageRoutes(app: FastifyInstance, { health, hasConsole }: PageParts): void {
  const config = { isPublic: true, isPage: true };
  let script: Promise<Buffer> | undefined;
  const compressedScript = () => {
    script ??= readReferenceScript().catch((error: unknown) => {
      script = undefined;
      throw error;
    });
    return script;
  };

  app.get('/', { config }, async (request, reply) => {
    if (!isBrowser(request)) throw refusalOf(request);
    if (hasConsole) return reply.redirect('/console');
    return reply
      .header('content-security-policy', FRONT_PAGE_POLICY)
      .type(HTML)
      .serializer(String)
      .send(frontPage(withoutDetails(await health.check())));
  });
  app.get('/api-docs', { config }, (_request, reply) =>
    reply.header('content-security-policy', REFERENCE_POLICY).type(HTML).serializer(String).send(REFERENCE_PAGE),
  );
  app.get(REFERENCE_SCRIPT_PATH, { config }, async (request, reply) => {
    const compressed = await compressedScript();
    const takesGzip = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '');
    if (takesGzip) reply.header('content-encoding', 'gzip');
    return reply
      .headers({ 'cache-control': CACHED, vary: 'accept-encoding' })
      .type('text/javascript; charset=utf-8')
      .send(takesGzip ? compressed : createGunzip().end(compressed));
  });
  app.get('/api-docs/openapi.json', { config: { isPublic: true } }, async (_request, reply) =>
    reply.type('application/json; charset=utf-8').send(await readFile(DESCRIPTION)),
  );
}

function isBrowser({ headers }: FastifyRequest): boolean {
  return headers.accept?.includes('text/html') === true;
}

/** Only browsers get a page at the root path. Programs get an error. */
function refusalOf({ keyId, method }: FastifyRequest): AppError {
  return keyId === '' ? new AppError('UNAUTHORIZED', {}) : new AppError('ROUTE_NOT_FOUND', { method, path: '/' });
}
