import { type Kysely, sql } from 'kysely';
import { z } from 'zod';
import { type Attempt, attemptPurposeSchema } from '../domain/transaction.ts';
import type { Connection } from './connection.ts';
import type { AttemptTable, Tables } from './schema.ts';
import { sequenceAfter, sequenceText, sequenceTextSchema } from './sequence-text.ts';
import type { Reader, Writer } from './store.ts';
import { anyJsonObjectSchema, DuplicateRecord, jsonText, readRecord, timestampSchema } from './stored-record.ts';

/** Both databases bound the parameters of a statement (32,766 and 65,535). */
const IDS_PER_QUERY = 1000;

const rowSchema = z
  .object({
    transaction_id: z.string(),
    ordinal: z.int().positive(),
    lane: z.string(),
    sequence: sequenceTextSchema,
    raw: z.string(),
    hash: z.string(),
    created_at: timestampSchema,
    accepted_at: timestampSchema.nullable(),
    accepted_by: z.string().nullable(),
    purpose: attemptPurposeSchema,
    request: jsonText(anyJsonObjectSchema),
    fields: jsonText(anyJsonObjectSchema),
  })
  .transform(
    (row): Attempt => ({
      transactionId: row.transaction_id,
      ordinal: row.ordinal,
      lane: row.lane,
      sequence: row.sequence,
      purpose: row.purpose,
      request: row.request,
      fields: row.fields,
      raw: row.raw,
      hash: row.hash,
      createdAt: row.created_at,
      acceptedAt: row.accepted_at,
      acceptedBy: row.accepted_by,
    }),
  );

function fromRow(row: AttemptTable): Attempt {
  return readRecord(rowSchema, 'attempts', `${row.transaction_id}/${row.ordinal}`, row);
}

/** The attempts of several transactions, those of each by ordinal. */
export async function attemptsOf(db: Kysely<Tables>, transactionIds: readonly string[]): Promise<Attempt[]> {
  const attempts: Attempt[] = [];
  for (let start = 0; start < transactionIds.length; start += IDS_PER_QUERY) {
    const rows = await db
      .selectFrom('attempts')
      .selectAll()
      .where('transaction_id', 'in', transactionIds.slice(start, start + IDS_PER_QUERY))
      .orderBy('transaction_id')
      .orderBy('ordinal')
      .execute();
    attempts.push(...rows.map(fromRow));
  }
  return attempts;
}

/** Reads of the table `attempts`. */
export function attemptReads({ db }: Connection): Pick<Reader, 'attempts' | 'laneSequence' | 'fillers'> {
  return {
    attempts: (transactionId) => attemptsOf(db, [transactionId]),

    async laneSequence(lane) {
      // In one query, so that a pruning is seen as a whole or not at all.
      const { kept, pruned } = await db
        .selectNoFrom((on) => [
          on
            .selectFrom('attempts')
            .innerJoin('transactions', 'transactions.id', 'attempts.transaction_id')
            .select('attempts.sequence')
            .where('attempts.lane', '=', lane)
            // What was given up far beyond the account has left its sequence.
            .where('transactions.sequence', 'is not', null)
            .orderBy('attempts.sequence', 'desc')
            .limit(1)
            .as('kept'),
          on.selectFrom('lane_sequences').select('sequence').where('lane', '=', lane).as('pruned'),
        ])
        .executeTakeFirstOrThrow();
      return sequenceAfter([kept, pruned]);
    },

    async fillers(lane, since) {
      const rows = await db
        .selectFrom('attempts')
        .select(['sequence', 'created_at'])
        .where('lane', '=', lane)
        .where('created_at', '>=', since)
        // What is empty from its first version on was never anybody's request. Spelt out, as that of the index is.
        .where('ordinal', '=', sql.lit(1))
        .where('purpose', '=', sql.lit('void' as const))
        .orderBy('sequence')
        .execute();
      return rows.map(({ sequence, created_at }) => ({ sequence: sequenceTextSchema.parse(sequence), at: created_at }));
    },
  };
}

/** Writes of the table `attempts`. */
export function attemptWrites({ db }: Connection): Pick<Writer, 'insertAttempt' | 'attemptAccepted'> {
  return {
    async insertAttempt(attempt) {
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('attempts')
        .values({
          transaction_id: attempt.transactionId,
          ordinal: attempt.ordinal,
          lane: attempt.lane,
          sequence: sequenceText(attempt.sequence),
          raw: attempt.raw,
          hash: attempt.hash,
          created_at: attempt.createdAt,
          accepted_at: attempt.acceptedAt,
          accepted_by: attempt.acceptedBy ?? null,
          purpose: attempt.purpose,
          request: JSON.stringify(attempt.request),
          fields: JSON.stringify(attempt.fields),
        })
        .onConflict((on) => on.doNothing())
        .executeTakeFirstOrThrow();
      if (numInsertedOrUpdatedRows === 0n) {
        throw new DuplicateRecord('attempts', `${attempt.transactionId}/${attempt.ordinal} or hash ${attempt.hash}`);
      }
    },

    async attemptAccepted(transactionId, ordinal, { at, by = null }) {
      const { numUpdatedRows } = await db
        .updateTable('attempts')
        // What counts is the first time.
        .set((on) => ({
          accepted_at: on.fn.coalesce('accepted_at', on.val(at)),
          accepted_by: on.case().when('accepted_at', 'is', null).then(by).else(on.ref('accepted_by')).end(),
        }))
        .where('transaction_id', '=', transactionId)
        .where('ordinal', '=', ordinal)
        .executeTakeFirstOrThrow();
      if (numUpdatedRows === 0n) throw new Error(`There is no attempt ${transactionId}/${ordinal}`);
    },
  };
}
