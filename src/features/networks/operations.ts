import { z } from 'zod';
import { networkTypeSchema } from '../../domain/network-type.ts';
import { BODY, created, one, operation, page } from '../../http/operation.ts';
import { pageQuerySchema } from '../../http/paging.ts';

/** A network, with the fields of its family. */
export const networkSchema = z.looseObject({
  id: z.string().meta({ description: 'Type and name in lower case, for instance `evm:sepolia`' }),
  name: z.string(),
  network_type: networkTypeSchema,
  rpc_urls: z
    .array(z.object({ url: z.string(), weight: z.int().min(0).max(100) }))
    .meta({ description: 'RPC endpoints; user-info, query and path segments of 8 or more characters are hidden' }),
  explorer_urls: z.array(z.string()).optional(),
  average_blocktime_ms: z.int().min(1).optional(),
  is_testnet: z.boolean().optional(),
  tags: z.array(z.string()).optional(),
  source: z
    .enum(['api', 'file', 'built-in'])
    .meta({ description: 'Where the network is defined; only networks with source `api` can be deleted' }),
});

const tag = 'Networks';

/** Networks. No answer contains an endpoint's credentials. */
export const networkOperations = [
  operation({
    method: 'GET',
    path: '/api/v1/networks',
    query: pageQuerySchema,
    permission: 'networks:read',
    id: 'listNetworks',
    tag,
    summary: 'List networks',
    answer: page(
      'Networks created over the API, newest first; then those of the configuration; then built-in ones',
      networkSchema,
    ),
    errors: ['INVALID_REQUEST'],
    handle: (call, { services }) => services.networks.list(call.page),
  }),
  operation({
    method: 'POST',
    path: '/api/v1/networks',
    permission: 'networks:write',
    id: 'createNetwork',
    tag,
    summary: 'Create a network',
    description:
      'The same rules apply to its endpoints as to those of relayers: an endpoint in a private network is refused, ' +
      'unless the operator has allowed it. Relayers can be created on the network at once.',
    body: ({ networks }) => networks.create,
    answer: created('The created network', networkSchema),
    errors: [...BODY, 'NETWORK_EXISTS'],
    handle: (call, { services }) => services.networks.create(call.body, call.caller),
  }),
  operation({
    method: 'GET',
    path: '/api/v1/networks/:id',
    permission: 'networks:read',
    id: 'getNetwork',
    tag,
    summary: 'Get a network',
    answer: one('The network', networkSchema),
    errors: ['NETWORK_NOT_FOUND'],
    handle: (call, { services }) => services.networks.get(call.params.id),
  }),
  operation({
    method: 'PATCH',
    path: '/api/v1/networks/:id',
    permission: 'networks:write',
    id: 'updateNetwork',
    tag,
    summary: 'Update a network',
    description:
      'The endpoints of any network can be changed. Other fields can be changed only in networks that were created ' +
      'over the API; null removes such a field. A changed network file takes effect at the next start.',
    body: ({ networks }) => networks.update,
    answer: one('The network after the change', networkSchema),
    errors: [...BODY, 'NETWORK_NOT_FOUND'],
    handle: (call, { services }) => services.networks.update(call.params.id, call.body, call.caller),
  }),
  operation({
    method: 'DELETE',
    path: '/api/v1/networks/:id',
    permission: 'networks:write',
    id: 'deleteNetwork',
    tag,
    summary: 'Delete a network that was created over the API and that no relayer uses',
    answer: one('Deleted', z.string()),
    errors: ['INVALID_REQUEST', 'NETWORK_NOT_FOUND', 'NETWORK_IN_USE'],
    async handle(call, { services }) {
      await services.networks.remove(call.params.id, call.caller);
      return 'Network deleted successfully';
    },
  }),
];
