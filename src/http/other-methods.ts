import type { FastifyInstance } from 'fastify';
import { AppError } from '../domain/errors.ts';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Which methods each path has; collected while routes are added. */
export type RouteTable = Map<string, { methods: Set<string>; isPublic: boolean }>;

/** Notes every route that is added from now on. */
export function collectRoutes(app: FastifyInstance): RouteTable {
  const table: RouteTable = new Map();
  app.addHook('onRoute', ({ url, method, config }) => {
    const entry = table.get(url) ?? { methods: new Set(), isPublic: config?.isPublic === true };
    for (const one of [method].flat()) entry.methods.add(one);
    table.set(url, entry);
  });
  return table;
}

/** Gives every known path an answer for the methods it does not have: 405 and `Allow` (RFC 9110, section 15.5.6). */
export function refuseOtherMethods(app: FastifyInstance, table: RouteTable): void {
  for (const [url, { methods, isPublic }] of [...table]) {
    const allowed = METHODS.filter((method) => methods.has(method)).join(', ');
    app.route({
      method: METHODS.filter((method) => !methods.has(method)),
      url,
      config: { isPublic },
      exposeHeadRoute: false,
      onRequest: (request, reply, done) => {
        reply.header('allow', allowed);
        done(new AppError('METHOD_NOT_ALLOWED', { method: request.method, allowed }));
      },
      handler: () => undefined,
    });
  }
}
