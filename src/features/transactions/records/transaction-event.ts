import {
  defineRecord,
  enumColumn,
  type FieldsOf,
  generatedColumn,
  integerColumn,
  nullableColumn,
  proseColumn,
  textColumn,
  timestampColumn,
} from '../../../domain/record.ts';
import { transactionStatusSchema } from './transaction-state.ts';

const columns = {
  /** The number of the write that stored the event. With the position, the order in which events may be reported. */
  written: generatedColumn(integerColumn),
  position: generatedColumn(integerColumn),
  at: timestampColumn,
  transactionId: textColumn,
  relayerId: textColumn,
  status: enumColumn(transactionStatusSchema),
  statusReason: nullableColumn(proseColumn),
  hash: nullableColumn(textColumn),
};

export const transactionEventRecord = defineRecord('transaction_events', columns, { key: ['position'] });

/**
 * A transaction was accepted, or its status, hash or `noopEnd` changed. The fields show the transaction right after
 * that.
 */
export interface TransactionEvent extends FieldsOf<typeof columns> {}

/** The position of an event among the events of all transactions. */
export type EventPlace = Pick<TransactionEvent, 'written' | 'position'>;

/** The place before every event. */
export const FIRST_PLACE: EventPlace = { written: 0, position: 0 };
