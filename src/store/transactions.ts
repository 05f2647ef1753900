import type { Insertable, Selectable, Updateable } from 'kysely';
import { z } from 'zod';
import { networkTypeSchema } from '../domain/network-type.ts';
import type { Transaction } from '../domain/transaction.ts';
import {
  canBecome,
  FINAL_STATUSES,
  isFinal,
  type TransactionStatus,
  transactionStatusSchema,
} from '../domain/transaction-state.ts';
import { attemptsOf } from './attempts.ts';
import type { Connection } from './connection.ts';
import { pageBounds } from './paging.ts';
import type { TransactionTable } from './schema.ts';
import { sequenceText, sequenceTextSchema } from './sequence-text.ts';
import type { Reader, TransactionChange, Writer } from './store.ts';
import {
  anyJsonObjectSchema,
  DuplicateRecord,
  flagSchema,
  jsonText,
  readRecord,
  storableText,
  timestampSchema,
} from './stored-record.ts';

/** The statuses that name work still to do; an index on status finds them, whatever has become final since. */
const OPEN_STATUSES = transactionStatusSchema.options.filter((status) => !FINAL_STATUSES.includes(status));
const PENDING_STATUSES: readonly TransactionStatus[] = ['pending', 'sent', 'submitted'];

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
    sequence: sequenceTextSchema.nullable(),
    hash: z.string().nullable(),
    is_canceled: flagSchema,
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
      sequence: row.sequence,
      hash: row.hash,
      isCanceled: row.is_canceled,
      nextActionAt: row.next_action_at,
    }),
  );

function fromRow(row: Selectable<TransactionTable>): Transaction {
  return readRecord(rowSchema, 'transactions', row.id, row);
}

function toRow(transaction: Transaction): Insertable<TransactionTable> {
  return {
    id: transaction.id,
    relayer_id: transaction.relayerId,
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
    sequence: transaction.sequence === null ? null : sequenceText(transaction.sequence),
    hash: transaction.hash,
    is_canceled: transaction.isCanceled ? 1 : 0,
    next_action_at: transaction.nextActionAt,
  };
}

/** The changed columns. A final transaction is never looked at again, so becoming final clears its next action. */
function toChangedColumns(change: TransactionChange): Updateable<TransactionTable> {
  const columns: Updateable<TransactionTable> = {};
  if (change.statusReason !== undefined)
    columns.status_reason = change.statusReason && storableText(change.statusReason);
  if (change.sentAt !== undefined) columns.sent_at = change.sentAt;
  if (change.confirmedAt !== undefined) columns.confirmed_at = change.confirmedAt;
  if (change.fields !== undefined) columns.fields = JSON.stringify(change.fields);
  if (change.sequence !== undefined) columns.sequence = change.sequence === null ? null : sequenceText(change.sequence);
  if (change.hash !== undefined) columns.hash = change.hash;
  if (change.isCanceled !== undefined) columns.is_canceled = change.isCanceled ? 1 : 0;
  if (change.nextActionAt !== undefined) columns.next_action_at = change.nextActionAt;
  if (change.status !== undefined) {
    columns.status = change.status;
    if (isFinal(change.status)) columns.next_action_at = null;
  }
  return columns;
}

type TransactionReads =
  | 'transaction'
  | 'transactions'
  | 'dueLanes'
  | 'dueTransactions'
  | 'openTransactions'
  | 'nextActionAt'
  | 'pendingCount'
  | 'lastConfirmedAt';

/** Reads of the table `transactions`. */
export function transactionReads({ db }: Connection): Pick<Reader, TransactionReads> {
  return {
    async transaction(relayerId, id) {
      const row = await db
        .selectFrom('transactions')
        .selectAll()
        .where('id', '=', id)
        .where('relayer_id', '=', relayerId)
        .executeTakeFirst();
      return row && fromRow(row);
    },

    async transactions(relayerId, page, status) {
      let matching = db.selectFrom('transactions').where('relayer_id', '=', relayerId);
      if (status !== undefined) matching = matching.where('status', '=', status);
      if (status !== undefined && !isFinal(status)) matching = matching.where('is_canceled', '=', 0);

      const { limit, offset } = pageBounds(page);
      const rows = await matching
        .selectAll()
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .limit(limit)
        .offset(offset)
        .execute();
      const { total } = await matching.select((on) => on.fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
      return { items: rows.map(fromRow), total };
    },

    async dueLanes(now) {
      // From lane to lane along the index: lanes are few, and a backlog in one must not make this slow.
      const rows = await db
        .withRecursive('lanes', (from) =>
          from
            .selectFrom('transactions')
            .select((on) => on.fn.min('lane').as('lane'))
            .where('next_action_at', 'is not', null)
            .unionAll(
              from
                .selectFrom('lanes')
                .select((on) =>
                  on
                    .selectFrom('transactions')
                    .select((of) => of.fn.min('transactions.lane').as('lane'))
                    .where('next_action_at', 'is not', null)
                    .whereRef('transactions.lane', '>', 'lanes.lane')
                    .$asScalar()
                    .$notNull()
                    .as('lane'),
                )
                .where('lanes.lane', 'is not', null),
            ),
        )
        .selectFrom('lanes')
        .select('lanes.lane')
        .where((on) =>
          on.exists(
            on
              .selectFrom('transactions')
              .select('transactions.id')
              .whereRef('transactions.lane', '=', 'lanes.lane')
              .where('next_action_at', '<=', now),
          ),
        )
        .execute();
      return rows.map(({ lane }) => lane);
    },

    async dueTransactions(lane, now, limit) {
      const rows = await db
        .selectFrom('transactions')
        .selectAll()
        .where('lane', '=', lane)
        .where('next_action_at', '<=', now)
        .orderBy('accepted')
        .limit(limit)
        .execute();
      return rows.map(fromRow);
    },

    async openTransactions(lane) {
      const rows = await db
        .selectFrom('transactions')
        .selectAll()
        .where('lane', '=', lane)
        .where('status', 'in', OPEN_STATUSES)
        .where('sequence', 'is not', null)
        .orderBy('sequence')
        .orderBy('accepted')
        .execute();
      // Read second: an attempt that came in between is one too many to look for, never one too few.
      const attempts = Map.groupBy(
        await attemptsOf(
          db,
          rows.map(({ id }) => id),
        ),
        ({ transactionId }) => transactionId,
      );
      return rows.map((row) => ({ transaction: fromRow(row), attempts: attempts.get(row.id) ?? [] }));
    },

    async nextActionAt() {
      const row = await db
        .selectFrom('transactions')
        .select((on) => on.fn.min('next_action_at').as('earliest'))
        .where('next_action_at', 'is not', null)
        .executeTakeFirstOrThrow();
      return row.earliest;
    },

    async pendingCount(relayerId) {
      const { count } = await db
        .selectFrom('transactions')
        .select((on) => on.fn.countAll<number>().as('count'))
        .where('relayer_id', '=', relayerId)
        .where('status', 'in', PENDING_STATUSES)
        .executeTakeFirstOrThrow();
      return count;
    },

    async lastConfirmedAt(relayerId) {
      const row = await db
        .selectFrom('transactions')
        .select((on) => on.fn.max('confirmed_at').as('latest'))
        .where('relayer_id', '=', relayerId)
        .where('confirmed_at', 'is not', null)
        .executeTakeFirstOrThrow();
      return row.latest;
    },
  };
}

/** Writes of the table `transactions`. */
export function transactionWrites({ db }: Connection): Pick<Writer, 'insertTransaction' | 'updateTransaction'> {
  return {
    async insertTransaction(transaction) {
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('transactions')
        .values(toRow(transaction))
        .onConflict((on) => on.doNothing())
        .executeTakeFirstOrThrow();
      if (numInsertedOrUpdatedRows === 0n) throw new DuplicateRecord('transactions', transaction.id);
    },

    async updateTransaction(id, seen, change) {
      assertStep(id, seen, change.status);
      const { numUpdatedRows } = await db
        .updateTable('transactions')
        // A change of nothing still answers whether the status is the one seen.
        .set({ status: seen, ...toChangedColumns(change) })
        .where('id', '=', id)
        .where('status', '=', seen)
        .executeTakeFirstOrThrow();
      return numUpdatedRows === 1n;
    },
  };
}

function assertStep(id: string, seen: TransactionStatus, next: TransactionStatus = seen): void {
  if (isFinal(seen) || (next !== seen && !canBecome(seen, next))) {
    throw new Error(`Transaction ${id} is ${seen} and cannot become ${next}`);
  }
}
