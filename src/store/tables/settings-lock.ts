import { sql } from 'kysely';
import type { Connection } from '../connection.ts';
import { preparedQuery } from '../prepared.ts';
import type { StoreWriter } from '../store.ts';

/**
 * Locks that keep references between settings valid: a relayer refers to its signer, a transaction to its relayer. With
 * other writers, a snapshot of the database may not show a new reference to the record that is about to be deleted.
 */
export function settingsLock(connection: Connection): Pick<StoreWriter, 'lockSettings' | 'holdRelayer'> {
  const { db, hasOtherWriters = false } = connection;
  const held = preparedQuery(connection, (id: string) => {
    const relayer = db.selectFrom('relayers').select('id').where('id', '=', id);
    return hasOtherWriters ? relayer.forKeyShare() : relayer;
  });
  return {
    async lockSettings() {
      // Blocks `holdRelayer` and other changes, but no reads. Later statements of the transaction see everything that
      // was committed before: https://www.postgresql.org/docs/current/sql-lock.html
      if (hasOtherWriters) await sql`lock table relayers in exclusive mode`.execute(db);
    },

    async holdRelayer(id) {
      return (await held(id)).length > 0;
    },
  };
}
