import { join } from 'node:path';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { AppError } from '../../domain/errors.ts';
import type { SignInCode } from '../access/sign-in-code.ts';
import { success } from '../envelope.ts';
import { oneThreadsMessage, STRICT_POLICY, sendGzipped, sendPage } from '../pages/page.ts';
import { acceptJson, bodyOf } from '../request.ts';

const SCRIPT_PATH = '/console/console.js';
const STYLE_PATH = '/console/console.css';
const BUNDLE_THREAD = join(import.meta.dirname, '..', 'pages', 'console-bundle-thread.ts');

/** The console's HTML page. It gets its data from the API, with the user's key. */
const PAGE = [
  '<!doctype html><html lang="en"><head><meta charset="utf-8">',
  '<meta name="viewport" content="width=device-width, initial-scale=1"><title>Isolayer</title>',
  `<link rel="icon" href="data:,"><link rel="stylesheet" href="${STYLE_PATH}">`,
  `<script type="module" src="${SCRIPT_PATH}"></script></head><body><div id="app"></div>`,
  '<noscript>This page needs JavaScript. The service itself is used over its <a href="/api-docs">API</a>.</noscript>',
  '</body></html>',
].join('');

/** Allows no inline content and nothing from other hosts, except images in data URLs. */
const POLICY = [...STRICT_POLICY, "script-src 'self'", "style-src 'self'", 'img-src data:', "connect-src 'self'"].join(
  '; ',
);

export interface ConsoleParts {
  signInCode: Pick<SignInCode, 'exchange'>;
}

const exchangeSchema = z.strictObject({ code: z.string().max(100) });

/** The console. The page can show only what the API shows to the user's key. */
export function consoleRoutes(app: FastifyInstance, { signInCode }: ConsoleParts): void {
  const config = { isPublic: true, isPage: true };
  /** The script and the style of the page, gzipped. */
  const bundle = oneThreadsMessage<{ script: Uint8Array; style: Uint8Array }>(BUNDLE_THREAD);

  app.get('/console', { config }, (_request, reply) =>
    sendPage(reply.header('cache-control', 'no-cache'), PAGE, POLICY),
  );
  for (const [path, part, type] of [
    [SCRIPT_PATH, 'script', 'text/javascript'],
    [STYLE_PATH, 'style', 'text/css'],
  ] as const) {
    app.get(path, { config }, async (request, reply) =>
      sendGzipped(request, reply, { bytes: (await bundle())[part], type, cacheControl: 'no-cache' }),
    );
  }

  acceptJson(app);
  app.post('/console/sign-in', { config }, (request) => {
    const body = exchangeSchema.safeParse(bodyOf(request));
    const key = body.success && isFromHere(request) ? signInCode.exchange(body.data.code) : undefined;
    if (key === undefined) throw new AppError('UNAUTHORIZED', {});
    return success({ key });
  });
}

/** Headers that proxies set. */
const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'];

/**
 * Whether the request comes from a page of this service in a browser on this machine. A request through a proxy does
 * not, since the proxy may pass on a remote user's request.
 */
function isFromHere({ headers, socket, host }: FastifyRequest): boolean {
  const { origin } = headers;
  if (origin !== undefined && origin !== `http://${host}`) return false;
  if (FORWARDED.some((name) => headers[name] !== undefined)) return false;
  return ipaddr.process(socket.remoteAddress ?? '0.0.0.0').range() === 'loopback';
}
