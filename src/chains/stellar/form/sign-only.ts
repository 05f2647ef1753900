import { z } from 'zod';
import { strictForm } from '../../../domain/json/unknown-field.ts';

/** The body of sign-transaction. */
export const unsentRequestSchema = strictForm({
  unsigned_xdr: z.string().meta({
    description: 'Base64 of a transaction’s envelope; signatures of others that it has already are kept',
  }),
});
