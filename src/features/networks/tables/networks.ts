import type { Connection } from '../../../store/connection.ts';
import type { StoreReader, StoreWriter } from '../../../store/store.ts';
import { recordOfRow, rowOfRecord } from '../../../store/tables/stored-record.ts';
import { networkRecord } from '../record.ts';

/** Reads of the table `networks`. */
export function networkReads(connection: Connection): Pick<StoreReader, 'storedNetwork' | 'storedNetworks'> {
  const { db } = connection;
  const all = db.selectFrom('networks').selectAll();
  return {
    async storedNetwork(type, name) {
      const row = await all.where('network_type', '=', type).where('name', '=', name).executeTakeFirst();
      return row && recordOfRow(networkRecord, row, connection);
    },

    async storedNetworks() {
      const rows = await all
        .orderBy('created_at', 'desc')
        .orderBy('network_type', 'desc')
        .orderBy('name', 'desc')
        .execute();
      return rows.map((row) => recordOfRow(networkRecord, row, connection));
    },
  };
}

/** Writes of the table `networks`. */
export function networkWrites(connection: Connection): Pick<StoreWriter, 'putNetwork' | 'deleteNetwork'> {
  const { db, now } = connection;
  return {
    async putNetwork(network) {
      const row = rowOfRecord(networkRecord, network, connection);
      await db
        .insertInto('networks')
        .values({ ...row, created_at: now() })
        .onConflict((on) => on.columns(['network_type', 'name']).doUpdateSet(row))
        .execute();
    },

    async deleteNetwork(type, name) {
      const { numDeletedRows } = await db
        .deleteFrom('networks')
        .where('network_type', '=', type)
        .where('name', '=', name)
        .executeTakeFirstOrThrow();
      return numDeletedRows === 1n;
    },
  };
}
