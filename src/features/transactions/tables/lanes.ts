import { z } from 'zod';
import {
  jsonText,
  accountSequenceColumn as sequenceColumn,
  storableText,
  timestampColumn,
} from '../../../domain/record.ts';
import type { Connection } from '../../../store/connection.ts';
import { preparedQuery } from '../../../store/prepared.ts';
import type { StoreReader, StoreWriter } from '../../../store/store.ts';
import { parseRow, recordOfRow } from '../../../store/tables/stored-record.ts';
import { type IntentOutcome, intentActionSchema, intentRecord } from '../records/intent.ts';
import { type DecisionKind, decisionRecord } from '../records/timeline-decision.ts';

/** Reads of the table `lanes`. */
export function laneReads({ db }: Connection) {
  async function settledSequence(lane: string): Promise<bigint | null> {
    const row = await db.selectFrom('lanes').select('settled').where('lane', '=', lane).executeTakeFirst();
    return row === undefined ? null : sequenceColumn.schema.parse(row.settled) + 1n;
  }
  return {
    settledSequence,

    async knownSequence(lane) {
      const [settled, open] = await Promise.all([
        settledSequence(lane),
        db
          .selectFrom('transactions')
          .select((on) => on.fn.max('sequence').as('highest'))
          .where('lane', '=', lane)
          .where('status', 'in', ['sent', 'submitted', 'mined'])
          .where('next_action_at', 'is not', null)
          .executeTakeFirst(),
      ]);
      if (open?.highest == null) return settled;
      const next = sequenceColumn.schema.parse(open.highest) + 1n;
      return settled !== null && settled > next ? settled : next;
    },

    async expiredLeases(now) {
      const rows = await db.selectFrom('leases').select(['name', 'token']).where('expires_at', '<=', now).execute();
      return new Map(rows.map(({ name, token }) => [name, token]));
    },
  } satisfies Partial<StoreReader>;
}

/** Writes of the table `lanes`. */
export function laneWrites(connection: Connection) {
  const raise = preparedQuery(connection, (lane: string, settled: string) =>
    connection.db
      .insertInto('lanes')
      .values({ lane, settled })
      .onConflict((on) => on.column('lane').doUpdateSet({ settled }).where('lanes.settled', '<', settled)),
  );
  return {
    async settleSequence(lane, sequence) {
      await raise(lane, sequenceColumn.write(sequence));
    },
  } satisfies Partial<StoreWriter>;
}

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
export function intentReads(connection: Connection) {
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
  } satisfies Partial<StoreReader>;
}

/** Writes of the table `intents`. */
export function intentWrites({ db, now }: Connection) {
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
  } satisfies Partial<StoreWriter>;
}

/** Reads of the table `decisions`. */
export function decisionReads({ db }: Connection) {
  return {
    async decisions(transactionId, limit) {
      const rows = await db
        .selectFrom('decisions')
        .select(['at', 'kind', 'text'])
        .where('transaction_id', '=', transactionId)
        .orderBy('position', 'desc')
        .limit(limit)
        .execute();
      return rows.reverse().map((row) => recordOfRow(decisionRecord, row));
    },
  } satisfies Partial<StoreReader>;
}

/** Writes of the table `decisions`. */
export function decisionWrites(connection: Connection) {
  const { db, now } = connection;
  const insert = preparedQuery(connection, (transaction_id: string, kind: string, text: string) =>
    db.insertInto('decisions').values({ transaction_id, at: now(), kind: kind as DecisionKind, text }),
  );
  return {
    async insertDecision(transactionId, { kind, text }) {
      await insert(transactionId, kind, storableText(text));
    },
  } satisfies Partial<StoreWriter>;
}
