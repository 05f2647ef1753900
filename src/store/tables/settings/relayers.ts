import type { Kysely } from 'kysely';
import { type Relayer, relayerRecord } from '../../../domain/relayer/relayer.ts';
import { type Connection, sealerOf } from '../../connection.ts';
import { prepared } from '../../prepared.ts';
import type { RelayerTable, Tables } from '../../schema.ts';
import type { SealedPlace, Sealer } from '../../sealing.ts';
import type { Reader, Writer } from '../../store.ts';
import { relayerList } from '../lists/relayer-list.ts';
import { newRevision, SameRows } from '../same-rows.ts';
import { readRow } from '../stored-record.ts';

/**
 * The place that a relayer's sealed endpoints are bound to. They are sealed because their paths often contain a key.
 */
function urlsPlace(id: string): SealedPlace {
  return { table: 'relayers', row: id, field: 'custom_rpc_urls' };
}

function fromRow(connection: Connection, row: RelayerTable): Relayer {
  const sealed = row.custom_rpc_urls;
  const urls = sealed === null ? null : sealerOf(connection).open(sealed, urlsPlace(row.id));
  return readRow(relayerRecord, row.id, { ...row, custom_rpc_urls: urls });
}

function toRow(connection: Connection, relayer: Relayer): Omit<RelayerTable, 'created_at'> {
  const row = relayerRecord.write(relayer);
  const urls = row.custom_rpc_urls;
  const sealed = urls && sealerOf(connection).seal(urls, urlsPlace(relayer.id));
  return { ...row, revision: newRevision(), custom_rpc_urls: sealed };
}

/** Reads of the table `relayers`. */
export function relayerReads(
  connection: Connection,
): Pick<Reader, 'hasRelayer' | 'relayer' | 'relayers' | 'allRelayers'> {
  const { db } = connection;
  const known = new SameRows((row: RelayerTable) => fromRow(connection, row));
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
      const row = toRow(connection, relayer);
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

/** Seals endpoints anew under the first key, as `resealNotifications` does. */
export async function resealRpcUrls(db: Kysely<Tables>, sealer: Sealer): Promise<void> {
  const rows = await db
    .selectFrom('relayers')
    .select(['id', 'custom_rpc_urls'])
    .where('custom_rpc_urls', 'is not', null)
    .execute();
  for (const { id, custom_rpc_urls: sealed } of rows) {
    if (sealed === null || !sealer.isOutdated(sealed)) continue;
    const resealed = sealer.seal(sealer.open(sealed, urlsPlace(id)), urlsPlace(id));
    await db
      .updateTable('relayers')
      .set({ custom_rpc_urls: resealed, revision: newRevision() })
      .where('id', '=', id)
      .execute();
  }
}
