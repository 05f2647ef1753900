import { z } from 'zod';
import { strictForm } from '../../../domain/json/issue-text.ts';

/** The body of sign-transaction. */
export const unsentRequestSchema = strictForm({
  unsigned_xdr: z.string().meta({
    description: 'Envelope of the transaction in base64; signatures that it already has are kept',
  }),
});
