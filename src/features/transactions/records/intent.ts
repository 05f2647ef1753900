import { z } from 'zod';
import { isObject, type JsonObject } from '../../../domain/json/json.ts';
import {
  defineRecord,
  type FieldsOf,
  integerColumn,
  jsonColumn,
  textColumn,
  timestampColumn,
} from '../../../domain/record.ts';
import type { Timestamp } from './transaction.ts';

/** What a client wants done with a running transaction. */
export const intentActionSchema = z.discriminatedUnion('kind', [
  /** The transaction is to have no effect: a noop replaces it, or it is no longer offered. */
  z.strictObject({ kind: z.literal('cancel') }),
  /** The transaction is to do something else. A `validUntil` of null leaves the present one. */
  z.strictObject({
    kind: z.literal('replace'),
    request: z.custom<JsonObject>(isObject),
    validUntil: z.int().nullable(),
  }),
]);

export type IntentAction = z.infer<typeof intentActionSchema>;

const columns = {
  /** Rises with each intent. Intents are carried out in this order. */
  position: integerColumn,
  transactionId: textColumn,
  lane: textColumn,
  action: jsonColumn(intentActionSchema),
  createdAt: timestampColumn,
};

export const intentRecord = defineRecord('intents', columns, { key: ['position'] });

/** An action that was accepted. The transaction's lane carries it out or refuses it. */
export interface Intent extends FieldsOf<typeof columns> {}

/**
 * The outcome of an intent, for whoever asks. `settledAt` is null while the intent waits. `refusal` is null unless it
 * was refused.
 */
export interface IntentOutcome {
  kind: IntentAction['kind'];
  createdAt: Timestamp;
  settledAt: Timestamp | null;
  refusal: string | null;
}
