import type { ExpressionBuilder, Insertable, Selectable, Updateable } from 'kysely';
import type { Tables, TransactionTable } from '../../../store/schema.ts';
import { recordOfRow } from '../../../store/tables/stored-record.ts';
import { type Transaction, type TransactionChange, transactionRecord } from '../records/transaction.ts';
import { isFinal } from '../records/transaction-state.ts';
import { newRevision } from './record-cache.ts';

/**
 * Reads a row into a transaction.
 * @throws UnreadableRecord
 */
export function transactionOfRow(row: Selectable<TransactionTable>): Transaction {
  return recordOfRow(transactionRecord, row);
}

export type TransactionRow = Insertable<TransactionTable>;

export type ChangedColumns = Updateable<TransactionTable>;

/** Makes the row of a transaction. The database assigns its place in the order of acceptance. */
export function transactionRow(transaction: Transaction): TransactionRow {
  return { ...transactionRecord.write(transaction), revision: newRevision() };
}

/**
 * Condition: the transaction is not canceled. Either it is meant to have its effect, or it has none for another reason.
 */
export const isNotCanceled = (on: ExpressionBuilder<Tables, 'transactions'>) =>
  on.or([on('noop_end', 'is', null), on('noop_end', '<>', 'canceled')]);

/**
 * Makes the columns of a change. Becoming final clears the next action, since a final transaction is never looked at
 * again.
 */
export function changedColumns(change: TransactionChange): ChangedColumns {
  const columns: ChangedColumns = { revision: newRevision(), ...transactionRecord.writeChange(change) };
  if (change.status !== undefined && isFinal(change.status)) columns.next_action_at = null;
  return columns;
}
