import type { NetworkType } from '../../domain/network-type.ts';
import type { Connection } from '../../store/connection.ts';
import { preparedQuery, rememberedRead } from '../../store/prepared.ts';
import { DAMAGED_URL } from '../../store/sealing.ts';
import type { StoreReader, StoreWriter } from '../../store/store.ts';
import { recordOfRow, rowOfRecord } from '../../store/tables/stored-record.ts';
import { networkRecord } from './record.ts';

/** A network whose endpoints are damaged has none, also not those of its file. */
const DAMAGED = { rpc_urls: JSON.stringify([{ url: DAMAGED_URL, weight: 100 }]) };

/** Reads of the table `networks`. */
export function networkReads(connection: Connection) {
  const { db } = connection;
  const all = db.selectFrom('networks').selectAll();
  return {
    async storedNetwork(type, name) {
      const row = await all.where('network_type', '=', type).where('name', '=', name).executeTakeFirst();
      return row && recordOfRow(networkRecord, row, connection, DAMAGED);
    },

    async storedNetworks() {
      const rows = await all
        .orderBy('created_at', 'desc')
        .orderBy('network_type', 'desc')
        .orderBy('name', 'desc')
        .execute();
      return rows.map((row) => recordOfRow(networkRecord, row, connection, DAMAGED));
    },
  } satisfies Partial<StoreReader>;
}

/** Writes of the table `networks`. */
export function networkWrites(connection: Connection) {
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
  } satisfies Partial<StoreWriter>;
}

/** Reads of the table `chain_identities`. */
export function chainIdentityReads(connection: Connection) {
  const { db } = connection;
  const byName = rememberedRead(
    connection,
    preparedQuery(connection, (type: NetworkType, network: string) =>
      db
        .selectFrom('chain_identities')
        .select('identity')
        .where('network_type', '=', type)
        .where('network', '=', network),
    ),
    (rows) => rows.length,
  );
  const ofRelayer = preparedQuery(connection, (relayerId: string) =>
    db
      .selectFrom('relayers')
      .innerJoin('chain_identities', (on) =>
        on
          .onRef('chain_identities.network_type', '=', 'relayers.network_type')
          .onRef('chain_identities.network', '=', 'relayers.network'),
      )
      .select('chain_identities.identity')
      .where('relayers.id', '=', relayerId),
  );
  return {
    async chainIdentity(type, network) {
      const [row] = await byName(type, network);
      return row?.identity;
    },

    async chainIdentityOfRelayer(relayerId) {
      const [row] = await ofRelayer(relayerId);
      return row?.identity;
    },
  } satisfies Partial<StoreReader>;
}

/** Writes of the table `chain_identities`. */
export function chainIdentityWrites(connection: Connection) {
  const { chainIdentity } = chainIdentityReads(connection);
  return {
    async pinChainIdentity(type: NetworkType, network: string, identity: string) {
      await connection.db
        .insertInto('chain_identities')
        .values({ network_type: type, network, identity })
        .onConflict((on) => on.doNothing())
        .execute();
      const pinned = await chainIdentity(type, network);
      if (pinned !== identity) {
        throw new Error(`Network ${network} (${type}) is pinned to chain ${pinned}; it is not ${identity}`);
      }
    },

    async unpinChainIdentity(type, network, identity) {
      await connection.db
        .deleteFrom('chain_identities')
        .where('network_type', '=', type)
        .where('network', '=', network)
        .where('identity', '=', identity)
        .execute();
    },
  } satisfies Partial<StoreWriter>;
}
