import { z } from 'zod';
import { isObject, type JsonObject } from '../../../domain/json/json.ts';
import {
  defineRecord,
  type FieldsOf,
  generatedColumn,
  integerColumn,
  jsonColumn,
  nullableColumn,
  proseColumn,
  textColumn,
  timestampColumn,
} from '../../../domain/record.ts';

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
  position: generatedColumn(integerColumn),
  transactionId: textColumn,
  lane: textColumn,
  action: jsonColumn(intentActionSchema),
  createdAt: timestampColumn,
  /** Null while the intent waits. */
  settledAt: nullableColumn(timestampColumn),
  /** Why it was not carried out. */
  refusal: nullableColumn(proseColumn),
};

export const intentRecord = defineRecord('intents', columns, { key: ['position'] });

/** An action that was accepted. The transaction's lane carries it out or refuses it. */
export interface StoredIntent extends FieldsOf<typeof columns> {}

/** An intent that waits. */
export type Intent = Omit<StoredIntent, 'settledAt' | 'refusal'>;

/** The outcome of an intent, for whoever asks. */
export interface IntentOutcome extends Omit<StoredIntent, keyof Intent> {
  kind: IntentAction['kind'];
  createdAt: number;
}
