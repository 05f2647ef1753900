import { storableText } from '../../domain/record.ts';
import { type DecisionKind, decisionRecord } from '../../domain/transaction/decision.ts';
import type { Connection } from '../connection.ts';
import { prepared } from '../prepared.ts';
import type { Reader, Writer } from '../store.ts';
import { readRow } from './stored-record.ts';

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
      return rows.reverse().map((row) => readRow(decisionRecord, row));
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
