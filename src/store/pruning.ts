import { sql } from 'kysely';
import { FINAL_STATUSES } from '../domain/transaction-state.ts';
import type { Connection } from './connection.ts';
import type { TransactionTable } from './schema.ts';
import type { Writer } from './store.ts';

type Ended = Pick<TransactionTable, 'id' | 'ended_at' | 'sequence'>;

/** Deletes what has ended long ago and no idempotency key names. What a lane knows of its sequence outlives the attempts that it knows it from. */
export function pruningWrites({ db }: Connection): Pick<Writer, 'pruneTransactions'> {
  async function keepSequences(ended: readonly Ended[]): Promise<void> {
    const endedAt = new Map(
      ended.filter(({ sequence }) => sequence !== null).map(({ id, ended_at }) => [id, ended_at]),
    );
    if (endedAt.size === 0) return;
    const used = await db
      .selectFrom('attempts')
      .select((on) => ['transaction_id', 'lane', on.fn.max('sequence').as('sequence')])
      .where('transaction_id', 'in', [...endedAt.keys()])
      .groupBy(['transaction_id', 'lane'])
      .orderBy('sequence')
      .execute();
    const highest = new Map(used.map((one) => [one.lane, one]));
    for (const { lane, sequence, transaction_id: id } of highest.values()) {
      const set = { sequence, settled_at: endedAt.get(id) ?? null };
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
        .select(['id', 'ended_at', 'sequence'])
        .where('ended_at', '<', before)
        .where('status', 'in', FINAL_STATUSES)
        // Written out, as in the index.
        .where('pins', '=', sql.lit(0))
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
