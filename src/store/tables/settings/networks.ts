import { networkRecord } from '../../../domain/network.ts';
import type { Connection } from '../../connection.ts';
import type { Reader, Writer } from '../../store.ts';
import { readRow, writeRow } from '../stored-record.ts';

/** Reads of the table `networks`. */
export function networkReads(connection: Connection): Pick<Reader, 'storedNetwork' | 'storedNetworks'> {
  const { db } = connection;
  const all = db.selectFrom('networks').selectAll();
  return {
    async storedNetwork(type, name) {
      const row = await all.where('network_type', '=', type).where('name', '=', name).executeTakeFirst();
      return row && readRow(networkRecord, row, connection);
    },

    async storedNetworks() {
      const rows = await all
        .orderBy('created_at', 'desc')
        .orderBy('network_type', 'desc')
        .orderBy('name', 'desc')
        .execute();
      return rows.map((row) => readRow(networkRecord, row, connection));
    },
  };
}

/** Writes of the table `networks`. */
export function networkWrites(connection: Connection): Pick<Writer, 'putNetwork' | 'deleteNetwork'> {
  const { db, now } = connection;
  return {
    async putNetwork(network) {
      const row = writeRow(networkRecord, network, connection);
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
