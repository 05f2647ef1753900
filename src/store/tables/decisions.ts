import { z } from 'zod';
import { type Decision, decisionKindSchema } from '../../domain/transaction/decision.ts';
import type { Connection } from '../connection.ts';
import type { Reader, Writer } from '../store.ts';
import { readRecord, storableText, timestampSchema } from './stored-record.ts';

const rowSchema = z.object({ at: timestampSchema, kind: decisionKindSchema, text: z.string() });

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
export function decisionWrites({ db, now }: Connection): Pick<Writer, 'insertDecision'> {
  return {
    async insertDecision(transactionId, { kind, text }) {
      await db
        .insertInto('decisions')
        .values({ transaction_id: transactionId, at: now(), kind, text: storableText(text) })
        .execute();
    },
  };
}
