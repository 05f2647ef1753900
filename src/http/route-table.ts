import type { FastifyInstance, FastifySchema } from 'fastify';

/** The methods and properties of each path, collected while routes are added. */
export type RouteTable = Map<string, { methods: Map<string, FastifySchema>; isPublic: boolean; isPage: boolean }>;

/** Collects every route that is added after this call. */
export function collectRoutes(app: FastifyInstance): RouteTable {
  const table: RouteTable = new Map();
  app.addHook('onRoute', ({ url, method, config, schema }) => {
    if (config?.isRefusal === true) return;
    const entry = table.get(url) ?? {
      methods: new Map(),
      isPublic: config?.isPublic === true,
      isPage: config?.isPage === true,
    };
    for (const one of [method].flat()) entry.methods.set(one, schema ?? {});
    table.set(url, entry);
  });
  return table;
}
