import type { Kysely } from 'kysely';
import { z } from 'zod';
import type { StoredNetwork } from '../../../domain/network.ts';
import { type NetworkType, networkTypeSchema } from '../../../domain/network-type.ts';
import { jsonObject, jsonText } from '../../../domain/record.ts';
import { type Connection, sealerOf } from '../../connection.ts';
import type { NetworkTable, Tables } from '../../schema.ts';
import type { SealedPlace, Sealer } from '../../sealing.ts';
import type { Reader, Writer } from '../../store.ts';
import { readRecord } from '../stored-record.ts';

const rowSchema = z
  .object({
    network_type: networkTypeSchema,
    name: z.string(),
    rpc_urls: jsonText(z.array(z.strictObject({ url: z.string(), weight: z.number() }))),
    settings: jsonObject.schema.nullable(),
    declaration: z.string().nullable(),
  })
  .transform(
    ({ network_type: type, rpc_urls: rpcUrls, ...same }): StoredNetwork => ({
      type,
      name: same.name,
      rpcUrls,
      settings: same.settings,
      declaration: same.declaration,
    }),
  );

/**
 * The place that a network's sealed endpoints are bound to. They are sealed because their paths often contain a key.
 */
function urlsPlace(type: NetworkType, name: string): SealedPlace {
  return { table: 'networks', row: `${type}:${name}`, field: 'rpc_urls' };
}

function fromRow(connection: Connection, row: NetworkTable): StoredNetwork {
  const { network_type: type, name } = row;
  const urls = sealerOf(connection).open(row.rpc_urls, urlsPlace(type, name));
  return readRecord(rowSchema, 'networks', `${type}:${name}`, { ...row, rpc_urls: urls });
}

/** Reads of the table `networks`. */
export function networkReads(connection: Connection): Pick<Reader, 'storedNetwork' | 'storedNetworks'> {
  const { db } = connection;
  const all = db.selectFrom('networks').selectAll();
  return {
    async storedNetwork(type, name) {
      const row = await all.where('network_type', '=', type).where('name', '=', name).executeTakeFirst();
      return row && fromRow(connection, row);
    },

    async storedNetworks() {
      const rows = await all
        .orderBy('created_at', 'desc')
        .orderBy('network_type', 'desc')
        .orderBy('name', 'desc')
        .execute();
      return rows.map((row) => fromRow(connection, row));
    },
  };
}

/** Writes of the table `networks`. */
export function networkWrites(connection: Connection): Pick<Writer, 'putNetwork' | 'deleteNetwork'> {
  const { db, now } = connection;
  return {
    async putNetwork({ type, name, rpcUrls, settings, declaration }) {
      const changing = {
        rpc_urls: sealerOf(connection).seal(JSON.stringify(rpcUrls), urlsPlace(type, name)),
        settings: settings && JSON.stringify(settings),
        declaration,
      };
      await db
        .insertInto('networks')
        .values({ network_type: type, name, created_at: now(), ...changing })
        .onConflict((on) => on.columns(['network_type', 'name']).doUpdateSet(changing))
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

/** Seals endpoints anew under the first key, as `resealNotifications` does. */
export async function resealNetworks(db: Kysely<Tables>, sealer: Sealer): Promise<void> {
  for (const { network_type: type, name, rpc_urls: sealed } of await db
    .selectFrom('networks')
    .select(['network_type', 'name', 'rpc_urls'])
    .execute()) {
    if (!sealer.isOutdated(sealed)) continue;
    const rpc_urls = sealer.seal(sealer.open(sealed, urlsPlace(type, name)), urlsPlace(type, name));
    await db
      .updateTable('networks')
      .set({ rpc_urls })
      .where('network_type', '=', type)
      .where('name', '=', name)
      .execute();
  }
}
