import { z } from 'zod';
import { strictForm } from '../../../domain/json/unknown-field.ts';
import { operationsSchema } from '../form/operation.ts';

/** What a user asks the relayer to pay for: an envelope, or operations of an account. */
export const sponsoredSchema = strictForm({
  transaction_xdr: z.string().nullish().meta({ description: 'Base64 of the user’s own envelope' }),
  operations: operationsSchema.nullish(),
  source_account: z
    .string()
    .nullish()
    .meta({ description: 'Whose `operations` they are: an account, or a contract that calls another' }),
  fee_token: z
    .string()
    .meta({ description: 'native or CODE:ISSUER; for a call of a contract the token’s own contract (C…)' }),
});

export type SponsoredForm = z.output<typeof sponsoredSchema>;
