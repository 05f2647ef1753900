import { z } from 'zod';
import type { JsonObject } from './json.ts';
import type { Timestamp } from './transaction.ts';

/** What a client wants of a running transaction. */
export const wishSchema = z.discriminatedUnion('kind', [
  /** Nothing more shall come of it: its sequence is taken by a version that does nothing. */
  z.strictObject({ kind: z.literal('cancel') }),
  /** It shall do something else. A `validUntil` of null leaves that as it is. */
  z.strictObject({
    kind: z.literal('replace'),
    request: z.custom<JsonObject>((value) => typeof value === 'object' && value !== null && !Array.isArray(value)),
    validUntil: z.int().nullable(),
  }),
]);

export type Wish = z.infer<typeof wishSchema>;

/** A wish that was accepted; the transaction's lane carries it out, or refuses it. */
export interface Intent {
  /** Rises with each; they are carried out in this order. */
  position: number;
  transactionId: string;
  lane: string;
  wish: Wish;
  createdAt: Timestamp;
}

/** What became of a wish, for whoever asks: `settledAt` null while it waits, `refusal` null unless it was refused. */
export interface WishRecord {
  kind: Wish['kind'];
  createdAt: Timestamp;
  settledAt: Timestamp | null;
  refusal: string | null;
}
