import type { Connection } from '../../../store/connection.ts';
import { preparedQuery } from '../../../store/prepared.ts';
import type { RelayerTable } from '../../../store/schema.ts';
import type { StoreReader, StoreWriter } from '../../../store/store.ts';
import { recordOfRow, rowOfRecord } from '../../../store/tables/stored-record.ts';
import { newRevision, RecordCache } from '../../transactions/tables/record-cache.ts';
import { relayerRecord } from '../records/relayer.ts';
import { relayerList } from './relayer-list.ts';

/** Reads of the table `relayers`. */
export function relayerReads(
  connection: Connection,
): Pick<StoreReader, 'hasRelayer' | 'relayer' | 'relayers' | 'allRelayers'> {
  const { db } = connection;
  const known = new RecordCache((row: RelayerTable) => recordOfRow(relayerRecord, row, connection));
  const read = (row: RelayerTable) => known.record(row);
  const byId = preparedQuery(connection, (id: string) => db.selectFrom('relayers').selectAll().where('id', '=', id));
  const idOf = preparedQuery(connection, (id: string) => db.selectFrom('relayers').select('id').where('id', '=', id));
  const markOf = preparedQuery(connection, (id: string) =>
    db.selectFrom('relayers').select(['id', 'revision']).where('id', '=', id),
  );
  return {
    async hasRelayer(id) {
      return (await idOf(id)).length > 0;
    },

    async relayer(id) {
      return known.find(
        id,
        () => markOf(id),
        () => byId(id),
      );
    },

    relayers: relayerList(connection, read),

    async allRelayers() {
      const newestFirst = db.selectFrom('relayers').selectAll().orderBy('created_at', 'desc').orderBy('id', 'desc');
      return (await newestFirst.execute()).map(read);
    },
  };
}

/** Writes of the table `relayers`. */
export function relayerWrites(connection: Connection): Pick<StoreWriter, 'putRelayer' | 'deleteRelayer'> {
  const { db, now } = connection;
  return {
    async putRelayer(relayer) {
      const row = { ...rowOfRecord(relayerRecord, relayer, connection), revision: newRevision() };
      await db
        .insertInto('relayers')
        .values({ ...row, created_at: now() })
        .onConflict((on) => on.column('id').doUpdateSet(row))
        .execute();
    },

    async deleteRelayer(id) {
      await db.deleteFrom('relayer_balances').where('relayer_id', '=', id).execute();
      const { numDeletedRows } = await db.deleteFrom('relayers').where('id', '=', id).executeTakeFirstOrThrow();
      return numDeletedRows === 1n;
    },
  };
}
