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
    .meta({ description: 'Pieces of a path of 8 characters and more are hidden, as are user-info and query' }),
  explorer_urls: z.array(z.string()).optional(),
  average_blocktime_ms: z.int().min(1).optional(),
  is_testnet: z.boolean().optional(),
  tags: z.array(z.string()).optional(),
  source: z
    .enum(['api', 'file', 'built-in'])
    .meta({ description: 'Who says what it is; only those of the API can be deleted' }),
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
        'Those made over the API, newest first; those of the files; the built-in ones',
        pageOf(networkSchema),
      ),
      errors: ['INVALID_REQUEST'],
    },
    'POST /api/v1/networks': {
      id: 'createNetwork',
      tag,
      summary: 'Create a network',
      description:
        'Its endpoints are held to the rules of those of relayers: none in a private network that the operator has not ' +
        'named. Relayers can be made on it at once.',
      body: { ...networks.create, required: true },
      answer: { status: 201, description: 'The created network', schema: envelope(networkSchema) },
      errors: [...BODY, 'NETWORK_EXISTS'],
    },
    'GET /api/v1/networks/:id': {
      id: 'getNetwork',
      tag,
      summary: 'One network',
      answer: found('The network', envelope(networkSchema)),
      errors: ['NETWORK_NOT_FOUND'],
    },
    'PATCH /api/v1/networks/:id': {
      id: 'updateNetwork',
      tag,
      summary: 'Update a network',
      description:
        'The endpoints of any; all else only of those that were made over the API, where null removes. What a file ' +
        'newly says of a network counts from the next start on.',
      body: { ...networks.update, required: true },
      answer: found('The network after the change', envelope(networkSchema)),
      errors: [...BODY, 'NETWORK_NOT_FOUND'],
    },
    'DELETE /api/v1/networks/:id': {
      id: 'deleteNetwork',
      tag,
      summary: 'Delete a network that was made over the API and that no relayer is on',
      answer: found('Deleted', envelope(z.string())),
      errors: ['INVALID_REQUEST', 'NETWORK_NOT_FOUND', 'NETWORK_IN_USE'],
    },
  };
}
