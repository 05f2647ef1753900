import { createGunzip } from 'node:zlib';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { AppError } from '../../domain/errors.ts';
import type { SignInCode } from '../access/sign-in-code.ts';
import { success } from '../answers/envelope.ts';
import { acceptJson, bodyOf } from '../json-body.ts';
import {
  bundleConsole,
  CONSOLE_PAGE,
  CONSOLE_POLICY,
  CONSOLE_SCRIPT_PATH,
  CONSOLE_STYLE_PATH,
  type ConsoleBundle,
} from '../pages/console-page.ts';

export interface ConsoleParts {
  signInCode: Pick<SignInCode, 'exchange'>;
}

const exchangeSchema = z.strictObject({ code: z.string().max(100) });

/** The console. The page can show only what the API shows to the user's key. */
export function consoleRoutes(app: FastifyInstance, { signInCode }: ConsoleParts): void {
  const config = { isPublic: true, isPage: true };
  let bundling: Promise<ConsoleBundle> | undefined;
  /** Bundles the console on the first request. A failure is tried again on the next request. */
  const bundle = () => {
    bundling ??= bundleConsole().catch((error: unknown) => {
      bundling = undefined;
      throw error;
    });
    return bundling;
  };

  app.get('/console', { config }, (_request, reply) =>
    reply
      .headers({ 'content-security-policy': CONSOLE_POLICY, 'cache-control': 'no-cache' })
      .type('text/html; charset=utf-8')
      .serializer(String)
      .send(CONSOLE_PAGE),
  );
  for (const [path, part, type] of [
    [CONSOLE_SCRIPT_PATH, 'script', 'text/javascript; charset=utf-8'],
    [CONSOLE_STYLE_PATH, 'style', 'text/css; charset=utf-8'],
  ] as const) {
    app.get(path, { config }, async (request, reply) => {
      const compressed = Buffer.from((await bundle())[part]);
      const takesGzip = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '');
      if (takesGzip) reply.header('content-encoding', 'gzip');
      return reply
        .headers({ 'cache-control': 'no-cache', vary: 'accept-encoding' })
        .type(type)
        .send(takesGzip ? compressed : createGunzip().end(compressed));
    });
  }

  acceptJson(app);
  app.post('/console/sign-in', { config }, (request) => {
    const asked = exchangeSchema.safeParse(bodyOf(request));
    const key = asked.success && isFromHere(request) ? signInCode.exchange(asked.data.code) : undefined;
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
