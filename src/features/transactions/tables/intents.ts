import { z } from 'zod';
import { jsonText, storableText, timestampColumn } from '../../../domain/record.ts';
import type { Connection } from '../../../store/connection.ts';
import { preparedQuery } from '../../../store/prepared.ts';
import type { StoreReader, StoreWriter } from '../../../store/store.ts';
import { parseRow, recordOfRow } from '../../../store/tables/stored-record.ts';
import { type IntentOutcome, intentActionSchema, intentRecord } from '../records/intent.ts';

const recordSchema = z
  .object({
    action: jsonText(intentActionSchema),
    created_at: timestampColumn.schema,
    settled_at: timestampColumn.schema.nullable(),
    refusal: z.string().nullable(),
  })
  .transform(
    (row): IntentOutcome => ({
      kind: row.action.kind,
      createdAt: row.created_at,
      settledAt: row.settled_at,
      refusal: row.refusal,
    }),
  );

/** Reads of the table `intents`. */
export function intentReads(
  connection: Connection,
): Pick<StoreReader, 'intents' | 'intentOutcome' | 'waitingIntents' | 'intentRecords'> {
  const { db } = connection;
  const waiting = preparedQuery(connection, (lane: string, limit: number) =>
    db
      .selectFrom('intents')
      .select(['position', 'transaction_id', 'lane', 'action', 'created_at'])
      .where('lane', '=', lane)
      .where('settled_at', 'is', null)
      .orderBy('position')
      .limit(limit),
  );
  return {
    async intents(lane, limit) {
      const rows = await waiting(lane, limit);
      return rows.map((row) => recordOfRow(intentRecord, row));
    },

    async intentOutcome(position) {
      const row = await db
        .selectFrom('intents')
        .select(['settled_at', 'refusal'])
        .where('position', '=', position)
        .executeTakeFirst();
      if (row === undefined) return undefined;
      return row.settled_at === null ? 'waiting' : { refusal: row.refusal };
    },

    async waitingIntents() {
      const { count } = await db
        .selectFrom('intents')
        .select((on) => on.fn.countAll<number>().as('count'))
        .where('settled_at', 'is', null)
        .executeTakeFirstOrThrow();
      return count;
    },

    async intentRecords(transactionId, limit) {
      const rows = await db
        .selectFrom('intents')
        .select(['action', 'created_at', 'settled_at', 'refusal'])
        .where('transaction_id', '=', transactionId)
        .orderBy('position', 'desc')
        .limit(limit)
        .execute();
      return rows.reverse().map((row) => parseRow(recordSchema, 'intents', `of ${transactionId}`, row));
    },
  };
}

/** Writes of the table `intents`. */
export function intentWrites({ db, now }: Connection): Pick<StoreWriter, 'insertIntent' | 'settleIntent'> {
  return {
    async insertIntent({ transactionId, lane, action }) {
      const { position } = await db
        .insertInto('intents')
        .values({
          transaction_id: transactionId,
          lane,
          action: JSON.stringify(action),
          created_at: now(),
          settled_at: null,
          refusal: null,
        })
        .returning('position')
        .executeTakeFirstOrThrow();
      return position;
    },

    async settleIntent(position, refusal) {
      await db
        .updateTable('intents')
        .set({ settled_at: now(), refusal: refusal && storableText(refusal) })
        .where('position', '=', position)
        .where('settled_at', 'is', null)
        .execute();
    },
  };
}
