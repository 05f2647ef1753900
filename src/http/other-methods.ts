import { METHODS as httpMethods } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { AppError } from '../domain/errors.ts';
import type { RouteTable } from './route-table.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route only answers 405: its path has other methods. */
    isRefusal?: boolean;
  }
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** The further methods that Node parses, such as TRACE. It ends a connection with CONNECT by itself. */
const FURTHER = httpMethods.filter((method) => !METHODS.includes(method) && method !== 'CONNECT');

/** Gives every known path an answer for the methods it does not have: 405 and `Allow` (RFC 9110, section 15.5.6). */
export function refuseOtherMethods(app: FastifyInstance, table: RouteTable): void {
  for (const method of FURTHER) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);
  for (const [url, { methods, isPublic }] of [...table]) {
    const allowed = METHODS.filter((method) => methods.has(method)).join(', ');
    app.route({
      method: [...METHODS, ...FURTHER].filter((method) => !methods.has(method)),
      url,
      config: { isPublic, isRefusal: true },
      exposeHeadRoute: false,
      onRequest: (request, reply, done) => {
        reply.header('allow', allowed);
        done(new AppError('METHOD_NOT_ALLOWED', { method: request.method, allowed }));
      },
      handler: () => undefined,
    });
  }
}
