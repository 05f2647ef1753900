import { sql } from 'kysely';
import { FINAL_STATUSES } from '../../features/transactions/records/transaction-state.ts';
import type { Connection } from '../connection.ts';
import type { StoreWriter } from '../store.ts';

/** Deletes transactions that ended long ago, unless an idempotency key names them. */
export function pruningWrites({ db }: Connection): Pick<StoreWriter, 'pruneTransactions'> {
  return {
    async pruneTransactions(before, limit) {
      const ended = await db
        .selectFrom('transactions')
        .select('id')
        .where('ended_at', '<', before)
        .where('status', 'in', FINAL_STATUSES)
        // A literal, as in the index: otherwise the index is not used.
        .where('pins', '=', sql.lit(0))
        .orderBy('ended_at')
        .limit(limit)
        .execute();
      if (ended.length === 0) return 0;
      const ids = ended.map(({ id }) => id);
      await db.deleteFrom('decisions').where('transaction_id', 'in', ids).execute();
      await db.deleteFrom('intents').where('transaction_id', 'in', ids).execute();
      await db.deleteFrom('attempts').where('transaction_id', 'in', ids).execute();
      await db.deleteFrom('transactions').where('id', 'in', ids).execute();
      return ids.length;
    },
  };
}
