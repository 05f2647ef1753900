import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { AppError } from '../../domain/errors.ts';
import { type Health, type HealthReport, withoutDetails } from '../../observability/health.ts';
import { operation, raw } from '../operation.ts';
import { escapeHtml, inlineSource, oneThreadsMessage, STRICT_POLICY, sendGzipped, sendPage } from '../pages/page.ts';

/** `npm run client` generates this file from the routes and their schemas. */
const DESCRIPTION = new URL('../openapi/openapi.json', import.meta.url);
const REFERENCE_SCRIPT_PATH = '/api-docs/reference.js';
/** Extracts Scalar's script, which takes half a second and many megabytes. Anybody may ask for it. */
const REFERENCE_SCRIPT_THREAD = join(import.meta.dirname, '..', 'pages', 'reference-script-thread.ts');
/** An hour is safe: the script changes only with the version of the service. */
const CACHED = 'public, max-age=3600';

export interface PageParts {
  health: Health;
  /** Whether the root path redirects browsers to the console. */
  hasConsole: boolean;
}

/** The pages for browsers. None of them needs a key. */
export function pageRoutes(app: FastifyInstance, { health, hasConsole }: PageParts): void {
  const config = { isPublic: true, isPage: true };
  const referenceScript = oneThreadsMessage<Uint8Array>(REFERENCE_SCRIPT_THREAD);

  app.get('/', { config }, async (request, reply) => {
    if (!isBrowser(request)) throw refusalOf(request);
    if (hasConsole) return reply.redirect('/console');
    return sendPage(reply, frontPage(withoutDetails(await health.check())), FRONT_PAGE_POLICY);
  });
  app.get('/api-docs', { config }, (_request, reply) => sendPage(reply, REFERENCE_PAGE, REFERENCE_POLICY));
  app.get(REFERENCE_SCRIPT_PATH, { config }, async (request, reply) =>
    sendGzipped(request, reply, { bytes: await referenceScript(), type: 'text/javascript', cacheControl: CACHED }),
  );
}

/** The API description for programs. */
export const descriptionOperation = operation({
  method: 'GET',
  path: '/api-docs/openapi.json',
  permission: 'public',
  id: 'openApi',
  tag: 'Operations',
  summary: 'Get this API description for programs',
  answer: raw('OpenAPI 3.1 document', z.looseObject({ openapi: z.literal('3.1.1') })),
  errors: [],
  handle: async ({ reply }) => reply.type('application/json; charset=utf-8').send(await readFile(DESCRIPTION)),
});

function isBrowser({ headers }: FastifyRequest): boolean {
  return headers.accept?.includes('text/html') === true;
}

/** Only browsers get a page at the root path. Programs get an error. */
function refusalOf({ keyId, method }: FastifyRequest): AppError {
  return keyId === '' ? new AppError('UNAUTHORIZED', {}) : new AppError('ROUTE_NOT_FOUND', { method, path: '/' });
}

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.6 system-ui, sans-serif; }
body { max-width: 40rem; margin: 4rem auto; padding: 0 1.25rem; }
h1 { margin: 0 0 .5rem; }
table { border-collapse: collapse; width: 100%; margin: 1.5rem 0; }
td { padding: .35rem 1rem .35rem 0; border-top: 1px solid color-mix(in srgb, currentColor 20%, transparent); vertical-align: top; }
code { font: .9em ui-monospace, Menlo, Consolas, monospace; }
.healthy { color: light-dark(#0b7a4b, #45c08a); }
.degraded { color: light-dark(#a35c00, #e0a14a); }
.unhealthy { color: light-dark(#b3261e, #f28b82); }
`;

/** Allows the page's own style only. The page loads nothing. */
const FRONT_PAGE_POLICY = [...STRICT_POLICY, `style-src ${inlineSource(STYLE)}`].join('; ');

/** Makes the page at the root of the service: what the service is, its health, and links to the API. */
function frontPage({ status, components }: HealthReport): string {
  const rows = Object.entries(components).map(
    ([name, { status: state }]) =>
      `<tr><td>${escapeHtml(name)}</td><td><span class="${state}">${state}</span></td></tr>`,
  );
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>Isolayer</title><style>${STYLE}</style></head><body><h1>Isolayer</h1>`,
    '<p>This service relays transactions, signs them, and runs plugins. It is used over its HTTP API, with a key.</p>',
    `<p>It is <strong class="${status}">${status}</strong>.</p><table>${rows.join('')}</table>`,
    '<p><a href="/api-docs">Read the API</a>, with a call to paste for each operation. ',
    '<a href="/api-docs/openapi.json">openapi.json</a> is the same for programs.</p>',
    '<p><a href="/api/v1/health">/api/v1/health</a> and <a href="/api/v1/ready">/api/v1/ready</a> are for probes. ',
    'Calls carry <code>Authorization: Bearer &lt;API key&gt;</code>.</p></body></html>',
  ].join('');
}

/**
 * Settings of Scalar's API reference. The page connects to this server only. It uses no foreign fonts, proxies,
 * telemetry or agents.
 */
const SETTINGS = {
  url: '/api-docs/openapi.json',
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  persistAuth: false,
};

const START = `Scalar.createApiReference('#reference', ${JSON.stringify(SETTINGS)});`;

/** The page that shows the API's description, with Scalar's API reference. */
const REFERENCE_PAGE = [
  '<!doctype html><html lang="en"><head><meta charset="utf-8">',
  '<meta name="viewport" content="width=device-width, initial-scale=1">',
  '<title>Isolayer API</title></head><body><div id="reference"></div>',
  '<noscript>This page needs JavaScript. The description itself is <a href="/api-docs/openapi.json">openapi.json</a>.</noscript>',
  `<script src="${REFERENCE_SCRIPT_PATH}"></script><script>${START}</script></body></html>`,
].join('');

/**
 * The page runs only its own two scripts and connects only to this server. Scalar's script creates styles, so inline
 * styles are allowed.
 */
const REFERENCE_POLICY = [
  ...STRICT_POLICY,
  `script-src 'self' ${inlineSource(START)}`,
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self' blob:",
].join('; ');
