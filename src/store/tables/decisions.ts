import { z } from 'zod';
import { storableText, timestamp } from '../../domain/record.ts';
import { type Decision, type DecisionKind, decisionKindSchema } from '../../domain/transaction/decision.ts';
import type { Connection } from '../connection.ts';
import { prepared } from '../prepared.ts';
import type { Reader, Writer } from '../store.ts';
import { readRecord } from './stored-record.ts';

const rowSchema = z.object({ at: timestamp.schema, kind: decisionKindSchema, text: z.string() });

/** Reads of the table `decisions`. */
export function decisionReads({ db }: Connection): Pick<Reader, 'decisions'> {
  return {
    async decisions(transactionId, limit) {
      const rows = await db
        .selectFrom('decisions')
        .select(['at', 'kind', 'text'])
        .where('transaction_id', '=', transactionId)
        .orderBy('position', 'desc')
        .limit(limit)
        .execute();
      return rows.reverse().map((row): Decision => readRecord(rowSchema, 'decisions', transactionId, row));
    },
  };
}

/** Writes of the table `decisions`. */
export function decisionWrites(connection: Connection): Pick<Writer, 'insertDecision'> {
  const { db, now } = connection;
  const insert = prepared(connection, (transaction_id: string, kind: string, text: string) =>
    db.insertInto('decisions').values({ transaction_id, at: now(), kind: kind as DecisionKind, text }),
  );
  return {
    async insertDecision(transactionId, { kind, text }) {
      await insert(transactionId, kind, storableText(text));
    },
  };
}
