import { z } from 'zod';
import { strictForm } from '../../../domain/json/issue-text.ts';
import { operationsSchema } from '../form/operation.ts';

/** What a user asks the relayer to pay for: an envelope, or operations of an account. */
export const sponsoredSchema = strictForm({
  transaction_xdr: z.string().nullish().meta({ description: 'Envelope of the user’s transaction, in base64' }),
  operations: operationsSchema.nullish(),
  source_account: z
    .string()
    .nullish()
    .meta({ description: 'Source of `operations`: an account, or a contract that calls another one' }),
  fee_token: z
    .string()
    .meta({ description: 'Token: native or CODE:ISSUER; for a contract call the contract of the token (C…)' }),
});

export type SponsoredForm = z.output<typeof sponsoredSchema>;
