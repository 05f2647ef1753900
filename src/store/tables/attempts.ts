import type { Insertable } from 'kysely';
import { z } from 'zod';
import { type Attempt, attemptPurposeSchema } from '../../domain/transaction/attempt.ts';
import type { Timestamp } from '../../domain/transaction/transaction.ts';
import type { Connection } from '../connection.ts';
import { prepared, preparedList, preparedWrite } from '../prepared.ts';
import type { AttemptTable } from '../schema.ts';
import type { Reader, Writer } from '../store.ts';
import { anchorText, anchorTextSchema } from './anchor-text.ts';
import {
  anyJsonObjectSchema,
  DuplicateRecord,
  jsonText,
  NoConflict,
  readRecord,
  timestampSchema,
} from './stored-record.ts';

const rowSchema = z
  .object({
    transaction_id: z.string(),
    ordinal: z.int().positive(),
    lane: z.string(),
    anchor: anchorTextSchema,
    raw: z.string(),
    hash: z.string(),
    created_at: timestampSchema,
    accepted_at: timestampSchema.nullable(),
    accepted_by: z.string().nullable(),
    dead_at: timestampSchema.nullable(),
    purpose: attemptPurposeSchema,
    request: jsonText(anyJsonObjectSchema),
    fields: jsonText(anyJsonObjectSchema),
  })
  .transform(
    (row): Attempt => ({
      transactionId: row.transaction_id,
      ordinal: row.ordinal,
      lane: row.lane,
      anchor: row.anchor,
      purpose: row.purpose,
      request: row.request,
      fields: row.fields,
      raw: row.raw,
      hash: row.hash,
      createdAt: row.created_at,
      acceptedAt: row.accepted_at,
      acceptedBy: row.accepted_by,
      deadAt: row.dead_at,
    }),
  );

function fromRow(row: AttemptTable): Attempt {
  return readRecord(rowSchema, 'attempts', `${row.transaction_id}/${row.ordinal}`, row);
}

/** Reads of the table `attempts`. */
export function attemptReads(connection: Connection): Pick<Reader, 'attempts'> {
  const { db } = connection;
  const ofTransactions = preparedList(connection, (ids) =>
    db
      .selectFrom('attempts')
      .selectAll()
      .where('transaction_id', 'in', ids)
      .orderBy('transaction_id')
      .orderBy('ordinal'),
  );
  return { attempts: async (...transactionIds) => (await ofTransactions(transactionIds)).map(fromRow) };
}

/** Writes of the table `attempts`. */
export function attemptWrites(
  connection: Connection,
): Pick<Writer, 'insertAttempt' | 'attemptAccepted' | 'attemptDied'> {
  const { db } = connection;
  const living = prepared(connection, (transactionId: string) =>
    db
      .selectFrom('attempts')
      .select(['ordinal', 'anchor'])
      .where('transaction_id', '=', transactionId)
      .where('dead_at', 'is', null),
  );
  const insert = preparedWrite(connection, (row: Insertable<AttemptTable>) =>
    db
      .insertInto('attempts')
      .values(row)
      .onConflict((on) => on.doNothing()),
  );
  const accept = preparedWrite(
    connection,
    ({ at, by }: { at: Timestamp; by: string | null }, transactionId: string, ordinal: number) =>
      db
        .updateTable('attempts')
        // Only the first call sets these columns.
        .set((on) => ({
          accepted_at: on.fn.coalesce('accepted_at', on.val(at)),
          accepted_by: on.case().when('accepted_at', 'is', null).then(by).else(on.ref('accepted_by')).end(),
        }))
        .where('transaction_id', '=', transactionId)
        .where('ordinal', '=', ordinal),
  );

  return {
    async insertAttempt(attempt) {
      const anchor = anchorText(attempt.anchor);
      const row = {
        transaction_id: attempt.transactionId,
        ordinal: attempt.ordinal,
        lane: attempt.lane,
        anchor,
        raw: attempt.raw,
        hash: attempt.hash,
        created_at: attempt.createdAt,
        accepted_at: attempt.acceptedAt,
        accepted_by: attempt.acceptedBy,
        dead_at: attempt.deadAt,
        purpose: attempt.purpose,
        request: JSON.stringify(attempt.request),
        fields: JSON.stringify(attempt.fields),
      };
      const rivals = await living(attempt.transactionId);
      const rival = rivals.find((one) => one.anchor === null || one.anchor !== anchor);
      if (rival !== undefined) throw new NoConflict(attempt.transactionId, attempt.ordinal, rival.ordinal);
      if ((await insert(row)) === 0) {
        throw new DuplicateRecord('attempts', `${attempt.transactionId}/${attempt.ordinal} or hash ${attempt.hash}`);
      }
    },

    async attemptAccepted(transactionId, ordinal, { at, by = null }) {
      if ((await accept({ at, by }, transactionId, ordinal)) === 0)
        throw new Error(`There is no attempt ${transactionId}/${ordinal}`);
    },

    async attemptDied(transactionId, ordinal, at) {
      const { numUpdatedRows } = await db
        .updateTable('attempts')
        .set((on) => ({ dead_at: on.fn.coalesce('dead_at', on.val(at)) }))
        .where('transaction_id', '=', transactionId)
        .where('ordinal', '=', ordinal)
        .executeTakeFirstOrThrow();
      if (numUpdatedRows === 0n) throw new Error(`There is no attempt ${transactionId}/${ordinal}`);
    },
  };
}
