import type { ExpressionBuilder, Insertable, Selectable, Updateable } from 'kysely';
import { z } from 'zod';
import { networkTypeSchema } from '../../domain/network-type.ts';
import { anchorKindSchema } from '../../domain/transaction/anchor.ts';
import { onDeathSchema, type Transaction } from '../../domain/transaction/transaction.ts';
import { isFinal, noopEndSchema, transactionStatusSchema } from '../../domain/transaction/transaction-state.ts';
import type { Tables, TransactionTable } from '../schema.ts';
import type { TransactionChange } from '../store.ts';
import { newRevision } from './same-rows.ts';
import { sequenceText, sequenceTextSchema } from './sequence-text.ts';
import { anyJsonObjectSchema, jsonText, readRecord, storableText, timestampSchema } from './stored-record.ts';

const rowSchema = z
  .object({
    id: z.string(),
    relayer_id: z.string(),
    network_type: networkTypeSchema,
    lane: z.string(),
    status: transactionStatusSchema,
    status_reason: z.string().nullable(),
    created_at: timestampSchema,
    sent_at: timestampSchema.nullable(),
    confirmed_at: timestampSchema.nullable(),
    valid_until: timestampSchema.nullable(),
    request: jsonText(anyJsonObjectSchema),
    fields: jsonText(anyJsonObjectSchema),
    anchor_kind: anchorKindSchema,
    on_death: onDeathSchema,
    content_key: z.string().nullable(),
    parent_id: z.string().nullable(),
    sequence: sequenceTextSchema.nullable(),
    hash: z.string().nullable(),
    noop_end: noopEndSchema.nullable(),
    next_action_at: timestampSchema.nullable(),
  })
  .transform(
    (row): Transaction => ({
      id: row.id,
      relayerId: row.relayer_id,
      networkType: row.network_type,
      lane: row.lane,
      status: row.status,
      statusReason: row.status_reason,
      createdAt: row.created_at,
      sentAt: row.sent_at,
      confirmedAt: row.confirmed_at,
      validUntil: row.valid_until,
      request: row.request,
      fields: row.fields,
      anchorKind: row.anchor_kind,
      onDeath: row.on_death,
      contentKey: row.content_key,
      parentId: row.parent_id,
      sequence: row.sequence,
      hash: row.hash,
      noopEnd: row.noop_end,
      nextActionAt: row.next_action_at,
    }),
  );

/**
 * Reads a row into a transaction.
 * @throws UnreadableRecord
 */
export function transactionOfRow(row: Selectable<TransactionTable>): Transaction {
  return readRecord(rowSchema, 'transactions', row.id, row);
}

export type TransactionRow = Insertable<TransactionTable>;

export type ChangedColumns = Updateable<TransactionTable>;

/** Makes the row of a transaction. The database assigns its place in the order of acceptance. */
export function transactionRow(transaction: Transaction): TransactionRow {
  return {
    id: transaction.id,
    relayer_id: transaction.relayerId,
    revision: newRevision(),
    network_type: transaction.networkType,
    lane: transaction.lane,
    status: transaction.status,
    status_reason: transaction.statusReason && storableText(transaction.statusReason),
    created_at: transaction.createdAt,
    sent_at: transaction.sentAt,
    confirmed_at: transaction.confirmedAt,
    valid_until: transaction.validUntil,
    request: JSON.stringify(transaction.request),
    fields: JSON.stringify(transaction.fields),
    anchor_kind: transaction.anchorKind,
    on_death: transaction.onDeath,
    content_key: transaction.contentKey,
    parent_id: transaction.parentId,
    sequence: transaction.sequence === null ? null : sequenceText(transaction.sequence),
    hash: transaction.hash,
    noop_end: transaction.noopEnd,
    next_action_at: transaction.nextActionAt,
  };
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
  const columns: ChangedColumns = { revision: newRevision() };
  if (change.lane !== undefined) columns.lane = change.lane;
  if (change.contentKey !== undefined) columns.content_key = change.contentKey;
  if (change.statusReason !== undefined)
    columns.status_reason = change.statusReason && storableText(change.statusReason);
  if (change.sentAt !== undefined) columns.sent_at = change.sentAt;
  if (change.confirmedAt !== undefined) columns.confirmed_at = change.confirmedAt;
  if (change.validUntil !== undefined) columns.valid_until = change.validUntil;
  if (change.request !== undefined) columns.request = JSON.stringify(change.request);
  if (change.fields !== undefined) columns.fields = JSON.stringify(change.fields);
  if (change.sequence !== undefined) columns.sequence = change.sequence === null ? null : sequenceText(change.sequence);
  if (change.hash !== undefined) columns.hash = change.hash;
  if (change.noopEnd !== undefined) columns.noop_end = change.noopEnd;
  if (change.nextActionAt !== undefined) columns.next_action_at = change.nextActionAt;
  if (change.status !== undefined) {
    columns.status = change.status;
    if (isFinal(change.status)) columns.next_action_at = null;
  }
  return columns;
}
