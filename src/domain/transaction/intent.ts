import { z } from 'zod';
import { isObject, type JsonObject } from '../json/json.ts';
import type { Timestamp } from './transaction.ts';

/** What a client wants of a running transaction. */
export const intentActionSchema = z.discriminatedUnion('kind', [
  /** Nothing more shall come of it: it is taken out of the way, or no longer offered. */
  z.strictObject({ kind: z.literal('cancel') }),
  /** It shall do something else. A `validUntil` of null leaves that as it is. */
  z.strictObject({
    kind: z.literal('replace'),
    request: z.custom<JsonObject>(isObject),
    validUntil: z.int().nullable(),
  }),
]);

export type IntentAction = z.infer<typeof intentActionSchema>;

/** An action that was accepted. The transaction's lane carries it out or refuses it. */
export interface Intent {
  /** Rises with each; they are carried out in this order. */
  position: number;
  transactionId: string;
  lane: string;
  action: IntentAction;
  createdAt: Timestamp;
}

/** What became of an intent, for whoever asks. `settledAt` is null while it waits, `refusal` unless it was refused. */
export interface IntentRecord {
  kind: IntentAction['kind'];
  createdAt: Timestamp;
  settledAt: Timestamp | null;
  refusal: string | null;
}
