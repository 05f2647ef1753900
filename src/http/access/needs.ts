import type { FastifyInstance } from 'fastify';
import type { AccessResource, Need } from '../../domain/settings/access.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What the key of a request has to be permitted; a route without one takes any key that is accepted. */
    need?: RouteNeed;
  }
}

/** What a route does, and to what: to the resource that its path names, or to the kind as a whole. */
export interface RouteNeed extends Need {
  /** Shows those of the kind that exist for the key. */
  isList?: boolean;
}

/** By kind and deed, the routes below `/api/v1` that do it. */
const ROUTES: Readonly<Record<AccessResource, Readonly<Record<string, readonly string[]>>>> = {
  relayers: {
    read: [
      // Each event is for those who may see what it is about.
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
      // Each request of it is for the relayer that it names.
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
    // What other callers' calls wrote is not for every caller.
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

/** The lists of which a key sees its own part. */
const LISTS = new Set(['GET /events', 'POST /transactions/batch', 'GET /relayers', 'GET /plugins']);

/** Shows a key what is its own: any that is accepted will do. */
const OF_ANY_KEY = 'GET /api-keys/current';

/** What each route needs, by method and path; null: no more than a key. */
const NEEDS: ReadonlyMap<string, RouteNeed | null> = new Map<string, RouteNeed | null>([
  ...Object.entries(ROUTES).flatMap(([resource, deeds]) =>
    Object.entries(deeds).flatMap(([deed, routes]) =>
      routes.map((route): [string, RouteNeed] => [
        route.replace(' ', ` ${PREFIX}`),
        { resource: resource as AccessResource, deed, ...(LISTS.has(route) && { isList: true }) },
      ]),
    ),
  ),
  [OF_ANY_KEY.replace(' ', ` ${PREFIX}`), null],
]);

/**
 * What a route needs: null for no more than a key, undefined when nothing is known of it. The call of a plugin answers
 * without the prefix, too.
 */
export function needOf(method: string, url: string): RouteNeed | null | undefined {
  const path = url.startsWith(PREFIX) ? url : `${PREFIX}${url}`;
  return NEEDS.get(`${method === 'HEAD' ? 'GET' : method} ${path}`);
}

/**
 * Notes with each route that is added from now on what it needs.
 * @throws when nothing is known of a route that takes a key, so that the service does not start with it
 */
export function declareNeeds(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    const { isPublic, isRefusal } = route.config ?? {};
    if (isPublic === true || isRefusal === true) return;
    const [method = ''] = [route.method].flat();
    const need = needOf(method, route.url);
    if (need === undefined) throw new Error(`access/needs.ts says nothing of ${method} ${route.url}`);
    if (need !== null) route.config = { ...route.config, need };
  });
}
