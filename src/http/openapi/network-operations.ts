import { z } from 'zod';
import { networkTypeSchema } from '../../domain/network-type.ts';
import { envelope, pageOf } from './answers.ts';
import { BODY, type ChainBodies, found, type Operation } from './operation.ts';

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

/** The operations on networks. */
export function networkOperations({ networks }: ChainBodies): Readonly<Record<string, Operation>> {
  const tag = 'Networks';
  return {
    'GET /api/v1/networks': {
      id: 'listNetworks',
      tag,
      summary: 'List networks',
      answer: found(
        'Networks created over the API, newest first; then those of the configuration; then built-in ones',
        pageOf(networkSchema),
      ),
      errors: ['INVALID_REQUEST'],
    },
    'POST /api/v1/networks': {
      id: 'createNetwork',
      tag,
      summary: 'Create a network',
      description:
        'The same rules apply to its endpoints as to those of relayers: an endpoint in a private network is refused, ' +
        'unless the operator has allowed it. Relayers can be created on the network at once.',
      body: { ...networks.create, required: true },
      answer: { status: 201, description: 'The created network', schema: envelope(networkSchema) },
      errors: [...BODY, 'NETWORK_EXISTS'],
    },
    'GET /api/v1/networks/:id': {
      id: 'getNetwork',
      tag,
      summary: 'Get a network',
      answer: found('The network', envelope(networkSchema)),
      errors: ['NETWORK_NOT_FOUND'],
    },
    'PATCH /api/v1/networks/:id': {
      id: 'updateNetwork',
      tag,
      summary: 'Update a network',
      description:
        'The endpoints of any network can be changed. Other fields can be changed only in networks that were created ' +
        'over the API; null removes such a field. A changed network file takes effect at the next start.',
      body: { ...networks.update, required: true },
      answer: found('The network after the change', envelope(networkSchema)),
      errors: [...BODY, 'NETWORK_NOT_FOUND'],
    },
    'DELETE /api/v1/networks/:id': {
      id: 'deleteNetwork',
      tag,
      summary: 'Delete a network that was created over the API and that no relayer uses',
      answer: found('Deleted', envelope(z.string())),
      errors: ['INVALID_REQUEST', 'NETWORK_NOT_FOUND', 'NETWORK_IN_USE'],
    },
  };
}
