import { z } from 'zod';
import { strictForm } from '../../../domain/json/issue-text.ts';

/** The body of sign-transaction. */
export const unsentRequestSchema = strictForm({
  transaction: z.string().meta({ description: 'Transaction that the relayer signs, in base64' }),
});
