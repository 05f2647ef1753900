import { z } from 'zod';
import { BODY, created, one, operation, page } from '../../http/operation.ts';
import { pageQuerySchema } from '../../http/paging.ts';

/** A signer without its secrets. */
export const signerSchema = z.strictObject({
  id: z.string(),
  type: z.string().meta({ description: 'Kind of signer; `local` for every key that the service itself holds' }),
  config: z
    .record(z.string(), z.unknown())
    .meta({ description: 'Configuration without secrets; an optional field that is not set is null' }),
});

const tag = 'Signers';

/** Signers. No answer contains a secret. */
export const signerOperations = [
  operation({
    method: 'GET',
    path: '/api/v1/signers',
    query: pageQuerySchema,
    permission: 'signers:read',
    id: 'listSigners',
    tag,
    summary: 'List signers',
    answer: page('Signers created over the API, newest first; then configured ones', signerSchema),
    errors: ['INVALID_REQUEST'],
    handle: (call, { services }) => services.signers.list(call.page),
  }),
  operation({
    method: 'POST',
    path: '/api/v1/signers',
    permission: 'signers:write',
    id: 'createSigner',
    tag,
    summary: 'Create a signer',
    description:
      'A key of type `plain` is sealed before it is stored. A service that holds the key is called only when a ' +
      'relayer is created with the signer. Such a service must not be in a private network.',
    body: ({ signer }) => signer,
    answer: created('The created signer', signerSchema),
    errors: [...BODY, 'SIGNER_EXISTS'],
    handle: (call, { services }) => services.signers.create(call.body, call.caller),
  }),
  operation({
    method: 'GET',
    path: '/api/v1/signers/:id',
    permission: 'signers:read',
    id: 'getSigner',
    tag,
    summary: 'Get a signer',
    answer: one('The signer', signerSchema),
    errors: ['SIGNER_NOT_FOUND'],
    handle: (call, { services }) => services.signers.get(call.params.id),
  }),
  operation({
    method: 'PATCH',
    path: '/api/v1/signers/:id',
    permission: 'signers:write',
    id: 'updateSigner',
    tag,
    summary: 'Update a signer (always refused)',
    description: 'A signer cannot be changed. Delete its relayers and the signer, then create a new signer.',
    body: { schema: z.strictObject({}), isOptional: true, example: {} },
    answer: one('Never returned', signerSchema),
    errors: ['INVALID_REQUEST', 'SIGNER_NOT_FOUND', ...BODY],
    handle: (call, { services }) => services.signers.update(call.params.id),
  }),
  operation({
    method: 'DELETE',
    path: '/api/v1/signers/:id',
    permission: 'signers:write',
    id: 'deleteSigner',
    tag,
    summary: 'Delete a signer that was created over the API and that no relayer uses',
    answer: one('Deleted', z.string()),
    errors: ['INVALID_REQUEST', 'SIGNER_NOT_FOUND', 'SIGNER_IN_USE'],
    async handle(call, { services }) {
      await services.signers.remove(call.params.id, call.caller);
      return 'Signer deleted successfully';
    },
  }),
];
