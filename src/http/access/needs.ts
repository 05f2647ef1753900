import type { FastifyInstance } from 'fastify';
import type { AccessResource, RequiredPermission } from '../../domain/settings/access.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The permission that the route needs. A route without one takes any accepted key. */
    requiredPermission?: RoutePermission;
  }
}

/** The action of a route and its resource: the one in the path, or the whole kind. */
export interface RoutePermission extends RequiredPermission {
  /** The route lists the resources of the kind that the key can see. */
  isList?: boolean;
}

/** The routes below `/api/v1`, by kind of resource and action. */
const ROUTES: Readonly<Record<AccessResource, Readonly<Record<string, readonly string[]>>>> = {
  relayers: {
    read: [
      // A key gets only the events of resources that it may see.
      'GET /events',
      'GET /relayers',
      'GET /relayers/:id',
      'GET /relayers/:id/status',
      'GET /relayers/:id/balance',
      'GET /relayers/:id/transactions',
      'GET /relayers/:id/transactions/:transactionId',
      'GET /relayers/:id/transactions/:transactionId/timeline',
      'GET /relayers/:id/transactions/by-nonce/:nonce',
      'GET /relayers/:id/transactions/by-hash/:hash',
    ],
    send: [
      // The permission is checked for the relayer of each request in the batch.
      'POST /transactions/batch',
      'POST /relayers/:id/transactions',
      'PUT /relayers/:id/transactions/:transactionId',
      'DELETE /relayers/:id/transactions/:transactionId',
      'DELETE /relayers/:id/transactions/pending',
    ],
    sign: [
      'POST /relayers/:id/sign',
      'POST /relayers/:id/sign-typed-data',
      'POST /relayers/:id/sign-transaction',
      'POST /relayers/:id/transactions/sponsored/quote',
      'POST /relayers/:id/transactions/sponsored/build',
    ],
    rpc: ['POST /relayers/:id/rpc'],
    write: ['POST /relayers', 'PATCH /relayers/:id', 'DELETE /relayers/:id'],
  },
  plugins: {
    read: ['GET /plugins', 'GET /plugins/:id'],
    call: ['GET /plugins/:id/call', 'POST /plugins/:id/call', 'GET /plugins/:id/call/*', 'POST /plugins/:id/call/*'],
    // Reading logs needs `write`, because logs contain the output of other callers' calls.
    write: [
      'PATCH /plugins/:id',
      'POST /plugins/:id/enable',
      'POST /plugins/:id/disable',
      'POST /plugins/:id/reload',
      'GET /plugins/:id/logs',
    ],
  },
  notifications: {
    read: [
      'GET /notifications',
      'GET /notifications/:id',
      'GET /notifications/:id/deliveries',
      'GET /notifications/:id/deliveries/:deliveryId',
    ],
    write: [
      'POST /notifications',
      'PATCH /notifications/:id',
      'DELETE /notifications/:id',
      'POST /notifications/:id/deliveries/:deliveryId/redeliver',
    ],
  },
  signers: collection('signers'),
  networks: collection('networks'),
  'api-keys': {
    read: ['GET /api-keys', 'GET /api-keys/:id', 'GET /api-keys/:id/permissions'],
    write: ['POST /api-keys', 'PATCH /api-keys/:id', 'DELETE /api-keys/:id'],
  },
  audit: { read: ['GET /audit'] },
  metrics: { read: ['GET /metrics', 'GET /metrics/:name', 'GET /debug/metrics/scrape'] },
};

function collection(name: string): Record<string, readonly string[]> {
  const one = `/${name}/:id`;
  return { read: [`GET /${name}`, `GET ${one}`], write: [`POST /${name}`, `PATCH ${one}`, `DELETE ${one}`] };
}

const PREFIX = '/api/v1';

/** Routes on which a key sees only the resources it has access to. */
const LISTS = new Set(['GET /events', 'POST /transactions/batch', 'GET /relayers', 'GET /plugins']);

/** Shows a key its own data, so any accepted key may call it. */
const OF_ANY_KEY = 'GET /api-keys/current';

/** The need of each route, by method and path; null: any accepted key. */
const NEEDS: ReadonlyMap<string, RoutePermission | null> = new Map<string, RoutePermission | null>([
  ...Object.entries(ROUTES).flatMap(([resource, actions]) =>
    Object.entries(actions).flatMap(([action, routes]) =>
      routes.map((route): [string, RoutePermission] => [
        route.replace(' ', ` ${PREFIX}`),
        { resource: resource as AccessResource, action, ...(LISTS.has(route) && { isList: true }) },
      ]),
    ),
  ),
  [OF_ANY_KEY.replace(' ', ` ${PREFIX}`), null],
]);

/**
 * Returns the need of a route: null when any accepted key will do, undefined when the route is not in the table. Plugin
 * calls also exist without the prefix.
 */
export function needOf(method: string, url: string): RoutePermission | null | undefined {
  const path = url.startsWith(PREFIX) ? url : `${PREFIX}${url}`;
  return NEEDS.get(`${method === 'HEAD' ? 'GET' : method} ${path}`);
}

/**
 * Writes its need into each route that is added after this call.
 * @throws when a route takes a key and is not in the table, so that the service does not start with it
 */
export function declareNeeds(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    const { isPublic, isRefusal } = route.config ?? {};
    if (isPublic === true || isRefusal === true) return;
    const [method = ''] = [route.method].flat();
    const need = needOf(method, route.url);
    if (need === undefined) throw new Error(`access/needs.ts says nothing of ${method} ${route.url}`);
    if (need !== null) route.config = { ...route.config, requiredPermission: need };
  });
}
