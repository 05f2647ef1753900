import type { Insertable } from 'kysely';
import type { Connection } from '../../../store/connection.ts';
import { preparedListQuery, preparedQuery, preparedWrite } from '../../../store/prepared.ts';
import type { Tables } from '../../../store/schema.ts';
import type { StoreReader, StoreWriter } from '../../../store/store.ts';
import { DuplicateRecord, NoConflict, recordOfRow } from '../../../store/tables/stored-record.ts';
import { attemptRecord } from '../records/attempt.ts';
import type { Timestamp } from '../records/transaction.ts';

/** Reads of the table `attempts`. */
export function attemptReads(connection: Connection) {
  const { db } = connection;
  const ofTransactions = preparedListQuery(connection, (ids) =>
    db
      .selectFrom('attempts')
      .selectAll()
      .where('transaction_id', 'in', ids)
      .orderBy('transaction_id')
      .orderBy('ordinal'),
  );
  return {
    attempts: async (...transactionIds) =>
      (await ofTransactions(transactionIds)).map((row) => recordOfRow(attemptRecord, row)),
  } satisfies Partial<StoreReader>;
}

/** Writes of the table `attempts`. */
export function attemptWrites(connection: Connection) {
  const { db } = connection;
  const living = preparedQuery(connection, (transactionId: string) =>
    db
      .selectFrom('attempts')
      .select(['ordinal', 'anchor'])
      .where('transaction_id', '=', transactionId)
      .where('dead_at', 'is', null),
  );
  const insert = preparedWrite(connection, (row: Insertable<Tables['attempts']>) =>
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
      const row = attemptRecord.write(attempt);
      // The new attempt is no rival of itself, so both can be asked for at once.
      const [rivals, inserted] = await Promise.all([living(attempt.transactionId), insert(row)]);
      const rival = rivals.find((one) => one.anchor === null || one.anchor !== row.anchor);
      if (rival !== undefined) throw new NoConflict(attempt.transactionId, attempt.ordinal, rival.ordinal);
      if (inserted === 0) {
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
  } satisfies Partial<StoreWriter>;
}
