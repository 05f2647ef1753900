import { FINAL_STATUSES } from '../domain/transaction-state.ts';
import type { Connection } from './connection.ts';
import type { TransactionTable } from './schema.ts';
import type { Writer } from './store.ts';

type Ended = Pick<TransactionTable, 'lane' | 'sequence' | 'ended_at'>;

/** Deletes what has ended long ago. What a lane knows of its sequence outlives the attempts that it knows it from. */
export function pruningWrites({ db }: Connection): Pick<Writer, 'pruneTransactions'> {
  async function keepSequences(ended: readonly Ended[]): Promise<void> {
    const highest = new Map<string, Ended & { sequence: string }>();
    for (const one of ended) {
      const { sequence, lane } = one;
      if (sequence !== null && sequence >= (highest.get(lane)?.sequence ?? '')) highest.set(lane, { ...one, sequence });
    }
    for (const { lane, sequence, ended_at: settled_at } of highest.values()) {
      const set = { sequence, settled_at };
      await db
        .insertInto('lane_sequences')
        .values({ lane, ...set })
        .onConflict((on) => on.column('lane').doUpdateSet(set).where('lane_sequences.sequence', '<', sequence))
        .execute();
    }
  }

  return {
    async pruneTransactions(before, limit) {
      const ended = await db
        .selectFrom('transactions')
        .select(['id', 'lane', 'sequence', 'ended_at'])
        .where('ended_at', '<', before)
        .where('status', 'in', FINAL_STATUSES)
        .orderBy('ended_at')
        .limit(limit)
        .execute();
      if (ended.length === 0) return 0;
      const ids = ended.map(({ id }) => id);
      await keepSequences(ended);
      await db.deleteFrom('decisions').where('transaction_id', 'in', ids).execute();
      await db.deleteFrom('intents').where('transaction_id', 'in', ids).execute();
      await db.deleteFrom('attempts').where('transaction_id', 'in', ids).execute();
      await db.deleteFrom('transactions').where('id', 'in', ids).execute();
      return ids.length;
    },
  };
}
