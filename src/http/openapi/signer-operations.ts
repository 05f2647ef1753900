import { z } from 'zod';
import { envelope, pageOf } from './answers.ts';
import { BODY, type ChainBodies, found, type Operation } from './operation.ts';

/** A signer without its secrets. */
export const signerSchema = z.strictObject({
  id: z.string(),
  type: z.string().meta({ description: 'Its kind; `local` for every key that this process has' }),
  config: z
    .record(z.string(), z.unknown())
    .meta({ description: 'What is not secret of its configuration; null for what may be there and is not' }),
});

/** The operations on signers. */
export function signerOperations({ signer }: Pick<ChainBodies, 'signer'>): Readonly<Record<string, Operation>> {
  const tag = 'Signers';
  return {
    'GET /api/v1/signers': {
      id: 'listSigners',
      tag,
      summary: 'List signers',
      answer: found('Those made over the API, newest first; those of the configuration', pageOf(signerSchema)),
      errors: ['INVALID_REQUEST'],
    },
    'POST /api/v1/signers': {
      id: 'createSigner',
      tag,
      summary: 'Create a signer',
      description:
        'A key of type `plain` is sealed before it is stored. Nothing is asked of a service that holds the key before a ' +
        'relayer is made with it; such a service has to lie outside of private networks.',
      body: { ...signer, required: true },
      answer: { status: 201, description: 'The created signer', schema: envelope(signerSchema) },
      errors: [...BODY, 'SIGNER_EXISTS'],
    },
    'GET /api/v1/signers/:id': {
      id: 'getSigner',
      tag,
      summary: 'One signer',
      answer: found('The signer', envelope(signerSchema)),
      errors: ['SIGNER_NOT_FOUND'],
    },
    'PATCH /api/v1/signers/:id': {
      id: 'updateSigner',
      tag,
      summary: 'Refused: what a signer is cannot be changed',
      description: 'Delete it and create another one; its relayers have to go first.',
      body: { schema: z.strictObject({}), required: false, example: {} },
      answer: found('Never', envelope(signerSchema)),
      errors: ['INVALID_REQUEST', 'SIGNER_NOT_FOUND', ...BODY],
    },
    'DELETE /api/v1/signers/:id': {
      id: 'deleteSigner',
      tag,
      summary: 'Delete a signer that was made over the API and that no relayer signs with',
      answer: found('Deleted', envelope(z.string())),
      errors: ['INVALID_REQUEST', 'SIGNER_NOT_FOUND', 'SIGNER_IN_USE'],
    },
  };
}
