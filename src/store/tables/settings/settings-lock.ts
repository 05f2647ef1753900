import { sql } from 'kysely';
import type { Connection } from '../../connection.ts';
import { prepared } from '../../prepared.ts';
import type { Writer } from '../../store.ts';

/**
 * Changes of settings refer to each other: a relayer to its signer, a transaction to its relayer. Where others write
 * meanwhile, a snapshot of the database may not show what refers by now to what is deleted.
 */
export function settingsLock(connection: Connection): Pick<Writer, 'lockSettings' | 'holdRelayer'> {
  const { db, hasOtherWriters = false } = connection;
  const held = prepared(connection, (id: string) => {
    const relayer = db.selectFrom('relayers').select('id').where('id', '=', id);
    return hasOtherWriters ? relayer.forKeyShare() : relayer;
  });
  return {
    async lockSettings() {
      // Stands in the way of `holdRelayer` and of other changes, not of reads. What comes after it in the transaction
      // sees all that was committed before: https://www.postgresql.org/docs/current/sql-lock.html
      if (hasOtherWriters) await sql`lock table relayers in exclusive mode`.execute(db);
    },

    async holdRelayer(id) {
      return (await held(id)).length > 0;
    },
  };
}
