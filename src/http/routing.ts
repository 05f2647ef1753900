import type { IncomingMessage } from 'node:http';
import type { FastifyContextConfig, FastifyInstance, FastifyRequest, FastifyServerOptions } from 'fastify';
import { AppError } from '../domain/errors.ts';

/** The methods of each path, collected while routes are added. */
type RouteTable = Map<string, { methods: Set<string>; isPublic: boolean }>;

/** Collects every route that is added after this call. */
export function collectRoutes(app: FastifyInstance): RouteTable {
  const table: RouteTable = new Map();
  app.addHook('onRoute', ({ url, method, config }) => {
    if (config?.isRefusal === true) return;
    const entry = table.get(url) ?? { methods: new Set(), isPublic: config?.isPublic === true };
    for (const one of [method].flat()) entry.methods.add(one);
    table.set(url, entry);
  });
  return table;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route only answers 405: its path has other methods. */
    isRefusal?: boolean;
  }
  interface FastifyRequest {
    /** Read it with {@link configOf}. */
    config: FastifyContextConfig | null;
  }
}

/** What fastify adds to the configuration of a route. */
type RouteConfig = FastifyContextConfig & { url?: string };

/** Returns the configuration of a request's route. Fastify makes `routeOptions` anew each time that it is read. */
export function configOf(request: FastifyRequest): RouteConfig {
  return (request.config ??= request.routeOptions.config);
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** The method that the router sees for every further one that Node parses. Node ends a connection with CONNECT itself. */
const FURTHER = 'TRACE';

const KNOWN: ReadonlySet<string> = new Set([...METHODS, FURTHER]);

/**
 * Lets the router see one method for all further ones, such as PROPFIND. A tree of all paths for each of them would
 * take a tenth of a start. What comes after the router sees the method that was asked. Call it before other hooks.
 */
export function routeFurtherMethodsAsOne(app: FastifyInstance): void {
  const asked = new WeakMap<IncomingMessage, string>();
  app.server.prependListener('request', (request: IncomingMessage) => {
    const { method = '' } = request;
    if (KNOWN.has(method)) return;
    asked.set(request, method);
    request.method = FURTHER;
  });
  app.addHook('onRequest', ({ raw }, _reply, done) => {
    if (raw.method === FURTHER) raw.method = asked.get(raw) ?? FURTHER;
    done();
  });
}

/** Gives every known path an answer for the methods it does not have: 405 and `Allow` (RFC 9110, section 15.5.6). */
export function refuseOtherMethods(app: FastifyInstance, table: RouteTable): void {
  for (const [url, { methods, isPublic }] of [...table]) {
    const allowed = METHODS.filter((method) => methods.has(method)).join(', ');
    app.route({
      method: [...KNOWN].filter((method) => !methods.has(method)),
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

function refuse(): never {
  throw new Error('Schemas are checked by zod, and answers are written by writeJson');
}

/**
 * Turns off Fastify's own compilers of JSON schemas. No route uses them, and every start would load them. Adding a
 * route that needs one throws.
 */
export const noSchemaCompilers: NonNullable<FastifyServerOptions['schemaController']> = {
  compilersFactory: { buildValidator: refuse, buildSerializer: refuse },
};
