import { storableText } from '../../../domain/record.ts';
import type { Connection } from '../../../store/connection.ts';
import { preparedQuery } from '../../../store/prepared.ts';
import type { StoreReader, StoreWriter } from '../../../store/store.ts';
import { recordOfRow } from '../../../store/tables/stored-record.ts';
import { type DecisionKind, decisionRecord } from '../records/timeline-decision.ts';

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
