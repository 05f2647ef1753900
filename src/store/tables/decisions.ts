import { storableText } from '../../domain/record.ts';
import { type DecisionKind, decisionRecord } from '../../domain/transaction/timeline-decision.ts';
import type { Connection } from '../connection.ts';
import { preparedQuery } from '../prepared.ts';
import type { StoreReader, StoreWriter } from '../store.ts';
import { recordOfRow } from './stored-record.ts';

/** Reads of the table `decisions`. */
export function decisionReads({ db }: Connection): Pick<StoreReader, 'decisions'> {
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
  };
}

/** Writes of the table `decisions`. */
export function decisionWrites(connection: Connection): Pick<StoreWriter, 'insertDecision'> {
  const { db, now } = connection;
  const insert = preparedQuery(connection, (transaction_id: string, kind: string, text: string) =>
    db.insertInto('decisions').values({ transaction_id, at: now(), kind: kind as DecisionKind, text }),
  );
  return {
    async insertDecision(transactionId, { kind, text }) {
      await insert(transactionId, kind, storableText(text));
    },
  };
}
