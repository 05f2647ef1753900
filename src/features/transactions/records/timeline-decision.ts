import { z } from 'zod';
import {
  defineRecord,
  enumColumn,
  type FieldsOf,
  generatedColumn,
  integerColumn,
  proseColumn,
  textColumn,
  timestampColumn,
} from '../../../domain/record.ts';

/** The kinds of decisions that neither a transaction's status nor its attempts show. */
export const decisionKindSchema = z.enum([
  'parked',
  'resumed',
  /** A transaction that was signed is to have no effect. How it ends is not certain yet. */
  'canceling',
  'canceled',
  'replaced',
  'bumped',
  'expired',
  'noop-signed',
  'refused',
  'not-taken',
  'mined',
  'reorganised',
  'gap-filled',
  'dead',
  'fallback',
  'adopted',
]);

export type DecisionKind = z.infer<typeof decisionKindSchema>;

const columns = { at: timestampColumn, kind: enumColumn(decisionKindSchema), text: proseColumn };

export const decisionRecord = defineRecord('decisions', columns, {
  key: ['kind', 'at'],
  beside: { position: generatedColumn(integerColumn), transactionId: textColumn },
});

/** A decision of the engine about a transaction, for whoever asks why it took the way it did. */
export interface Decision extends FieldsOf<typeof columns> {}
