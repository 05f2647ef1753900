import { FINAL_STATUSES } from '../domain/transaction-state.ts';
import type { Connection } from './connection.ts';
import type { Writer } from './store.ts';

/** Deletes what has ended long ago. What a lane knows of its sequence outlives the attempts that it knows it from. */
export function pruningWrites({ db }: Connection): Pick<Writer, 'pruneTransactions'> {
  async function keepSequences(ids: readonly string[]): Promise<void> {
    const highest = await db
      .selectFrom('attempts')
      .select((on) => ['lane', on.fn.max('sequence').as('sequence')])
      .where('transaction_id', 'in', ids)
      .groupBy('lane')
      .execute();
    for (const { lane, sequence } of highest) {
      await db
        .insertInto('lane_sequences')
        .values({ lane, sequence })
        .onConflict((on) => on.column('lane').doUpdateSet({ sequence }).where('lane_sequences.sequence', '<', sequence))
        .execute();
    }
  }

  return {
    async pruneTransactions(before, limit) {
      const ended = await db
        .selectFrom('transactions')
        .select('id')
        .where('ended_at', '<', before)
        .where('status', 'in', FINAL_STATUSES)
        .orderBy('ended_at')
        .limit(limit)
        .execute();
      if (ended.length === 0) return 0;
      const ids = ended.map(({ id }) => id);
      await keepSequences(ids);
      await db.deleteFrom('decisions').where('transaction_id', 'in', ids).execute();
      await db.deleteFrom('intents').where('transaction_id', 'in', ids).execute();
      await db.deleteFrom('attempts').where('transaction_id', 'in', ids).execute();
      await db.deleteFrom('transactions').where('id', 'in', ids).execute();
      return ids.length;
    },
  };
}
