import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { PAGE_SCRIPT, PAGE_STYLE } from '../openapi/page-assets.ts';

/** The description as it is served: both made once, at start. */
export interface ApiDocs {
  /** OpenAPI 3.1, as JSON text. */
  json: string;
  /** The same to read, as HTML. */
  html: string;
}

/** The page may run its own script and style, and load nothing. */
const POLICY = [
  "default-src 'none'",
  `script-src '${digest(PAGE_SCRIPT)}'`,
  `style-src '${digest(PAGE_STYLE)}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** What this service can be asked, for people and for programs; needs no key. `docs` is read at the first request. */
export function apiDocsRoutes(app: FastifyInstance, docs: () => ApiDocs): void {
  const config = { isPublic: true };
  app.get('/api-docs', { config }, (_request, reply) =>
    reply
      .header('content-security-policy', POLICY)
      .type('text/html; charset=utf-8')
      .serializer(String)
      .send(docs().html),
  );
  app.get('/api-docs/openapi.json', { config }, (_request, reply) =>
    reply.type('application/json; charset=utf-8').serializer(String).send(docs().json),
  );
}

function digest(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
