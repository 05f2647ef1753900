import type { NetworkType } from '../../../domain/network-type.ts';
import type { Connection } from '../../../store/connection.ts';
import { preparedQuery } from '../../../store/prepared.ts';
import type { StoreReader, StoreWriter } from '../../../store/store.ts';

/** Reads of the table `chain_identities`. */
export function chainIdentityReads(connection: Connection): Pick<StoreReader, 'chainIdentity'> {
  const { db } = connection;
  const byName = preparedQuery(connection, (type: NetworkType, network: string) =>
    db
      .selectFrom('chain_identities')
      .select('identity')
      .where('network_type', '=', type)
      .where('network', '=', network),
  );
  return {
    async chainIdentity(type, network) {
      const [row] = await byName(type, network);
      return row?.identity;
    },
  };
}

/** Writes of the table `chain_identities`. */
export function chainIdentityWrites(
  connection: Connection,
): Pick<StoreWriter, 'pinChainIdentity' | 'unpinChainIdentity'> {
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
  };
}
