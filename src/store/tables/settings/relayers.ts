import { relayerRecord } from '../../../domain/relayer/relayer.ts';
import type { Connection } from '../../connection.ts';
import { prepared } from '../../prepared.ts';
import type { RelayerTable } from '../../schema.ts';
import type { Reader, Writer } from '../../store.ts';
import { relayerList } from '../lists/relayer-list.ts';
import { newRevision, SameRows } from '../same-rows.ts';
import { readRow, writeRow } from '../stored-record.ts';

/** Reads of the table `relayers`. */
export function relayerReads(
  connection: Connection,
): Pick<Reader, 'hasRelayer' | 'relayer' | 'relayers' | 'allRelayers'> {
  const { db } = connection;
  const known = new SameRows((row: RelayerTable) => readRow(relayerRecord, row, connection));
  const read = (row: RelayerTable) => known.record(row);
  const byId = prepared(connection, (id: string) => db.selectFrom('relayers').selectAll().where('id', '=', id));
  const idOf = prepared(connection, (id: string) => db.selectFrom('relayers').select('id').where('id', '=', id));
  const markOf = prepared(connection, (id: string) =>
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
export function relayerWrites(connection: Connection): Pick<Writer, 'putRelayer' | 'deleteRelayer'> {
  const { db, now } = connection;
  return {
    async putRelayer(relayer) {
      const row = { ...writeRow(relayerRecord, relayer, connection), revision: newRevision() };
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
