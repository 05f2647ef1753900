import { z } from 'zod';
import { strictForm } from '../../../domain/json/issue-text.ts';
import { entryIn } from '../message/authorization.ts';

/** A bound above what any network takes in one transaction. */
const MAX_ENTRIES = 100;

const entry = z
  .string()
  .refine((text) => entryIn(text) !== undefined, 'expected a SorobanAuthorizationEntry in base64');

/** Who consents to a call, as clients write it. */
export const authorizationSchema = z
  .discriminatedUnion('type', [
    strictForm({ type: z.literal('none') }),
    strictForm({ type: z.literal('source_account') }),
    strictForm({
      type: z.literal('addresses'),
      // In the reference's words.
      signers: z.array(z.string()).refine(() => false, 'Address-based auth not yet implemented'),
    }),
    strictForm({
      type: z.literal('xdr'),
      entries: z.array(entry).max(MAX_ENTRIES).meta({ description: 'Signed authorization entries, in base64' }),
    }),
  ])
  .meta({
    description: 'Who consents. Default: the relayer, for itself only, to all calls that the simulation finds',
  });

export type WireAuthorization = z.output<typeof authorizationSchema>;
