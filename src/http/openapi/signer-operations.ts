import { z } from 'zod';
import { envelope, pageOf } from './answers.ts';
import { BODY, type ChainBodies, found, type Operation } from './operation.ts';

/** A signer without its secrets. */
export const signerSchema = z.strictObject({
  id: z.string(),
  type: z.string().meta({ description: 'Kind of signer; `local` for every key that the service itself holds' }),
  config: z
    .record(z.string(), z.unknown())
    .meta({ description: 'Configuration without secrets; an optional field that is not set is null' }),
});

/** The operations on signers. */
export function signerOperations({ signer }: Pick<ChainBodies, 'signer'>): Readonly<Record<string, Operation>> {
  const tag = 'Signers';
  return {
    'GET /api/v1/signers': {
      id: 'listSigners',
      tag,
      summary: 'List signers',
      answer: found('Signers created over the API, newest first; then configured ones', pageOf(signerSchema)),
      errors: ['INVALID_REQUEST'],
    },
    'POST /api/v1/signers': {
      id: 'createSigner',
      tag,
      summary: 'Create a signer',
      description:
        'A key of type `plain` is sealed before it is stored. A service that holds the key is called only when a ' +
        'relayer is created with the signer. Such a service must not be in a private network.',
      body: { ...signer, required: true },
      answer: { status: 201, description: 'The created signer', schema: envelope(signerSchema) },
      errors: [...BODY, 'SIGNER_EXISTS'],
    },
    'GET /api/v1/signers/:id': {
      id: 'getSigner',
      tag,
      summary: 'Get a signer',
      answer: found('The signer', envelope(signerSchema)),
      errors: ['SIGNER_NOT_FOUND'],
    },
    'PATCH /api/v1/signers/:id': {
      id: 'updateSigner',
      tag,
      summary: 'Update a signer (always refused)',
      description: 'A signer cannot be changed. Delete its relayers and the signer, then create a new signer.',
      body: { schema: z.strictObject({}), required: false, example: {} },
      answer: found('Never returned', envelope(signerSchema)),
      errors: ['INVALID_REQUEST', 'SIGNER_NOT_FOUND', ...BODY],
    },
    'DELETE /api/v1/signers/:id': {
      id: 'deleteSigner',
      tag,
      summary: 'Delete a signer that was created over the API and that no relayer uses',
      answer: found('Deleted', envelope(z.string())),
      errors: ['INVALID_REQUEST', 'SIGNER_NOT_FOUND', 'SIGNER_IN_USE'],
    },
  };
}
