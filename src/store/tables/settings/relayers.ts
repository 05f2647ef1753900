import type { Kysely } from 'kysely';
import { z } from 'zod';
import { networkTypeSchema } from '../../../domain/network-type.ts';
import type { DisabledReason, Relayer, RpcUrl } from '../../../domain/relayer/relayer.ts';
import { type Connection, sealerOf } from '../../connection.ts';
import { prepared } from '../../prepared.ts';
import type { RelayerTable, Tables } from '../../schema.ts';
import type { SealedPlace, Sealer } from '../../sealing.ts';
import type { Reader, Writer } from '../../store.ts';
import { relayerList } from '../lists/relayer-list.ts';
import { newRevision, SameRows } from '../same-rows.ts';
import {
  anyJsonObjectSchema,
  anyJsonSchema,
  flagSchema,
  jsonText,
  readRecord,
  storableText,
} from '../stored-record.ts';

const causeSchema = z.strictObject({
  type: z.string(),
  details: z.string(),
});
const nextCheckAt = z.int().optional();
const disabledReasonSchema: z.ZodType<DisabledReason> = z.union([
  causeSchema.extend({ nextCheckAt }),
  z.strictObject({ type: z.literal('Multiple'), details: z.array(causeSchema), nextCheckAt }),
]);
const rpcUrlSchema: z.ZodType<RpcUrl> = z.strictObject({ url: z.string(), weight: z.number() });

const rowSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    network: z.string(),
    network_type: networkTypeSchema,
    address: z.string(),
    paused: flagSchema,
    disabled_reason: jsonText(disabledReasonSchema).nullable(),
    signer_id: z.string(),
    notification_id: z.string().nullable(),
    custom_rpc_urls: jsonText(z.array(rpcUrlSchema)).nullable(),
    policies: jsonText(anyJsonObjectSchema),
    declaration: jsonText(anyJsonSchema).nullable(),
  })
  .transform(
    (row): Relayer => ({
      id: row.id,
      name: row.name,
      network: row.network,
      networkType: row.network_type,
      address: row.address,
      paused: row.paused,
      disabledReason: row.disabled_reason,
      signerId: row.signer_id,
      notificationId: row.notification_id,
      customRpcUrls: row.custom_rpc_urls,
      policies: row.policies,
      declaration: row.declaration,
    }),
  );

/**
 * The place that a relayer's sealed endpoints are bound to. They are sealed because their paths often contain a key.
 */
function urlsPlace(id: string): SealedPlace {
  return { table: 'relayers', row: id, field: 'custom_rpc_urls' };
}

function fromRow(connection: Connection, row: RelayerTable): Relayer {
  const sealed = row.custom_rpc_urls;
  const urls = sealed === null ? null : sealerOf(connection).open(sealed, urlsPlace(row.id));
  return readRecord(rowSchema, 'relayers', row.id, { ...row, custom_rpc_urls: urls });
}

function toRow(connection: Connection, relayer: Relayer): Omit<RelayerTable, 'created_at'> {
  const { customRpcUrls: urls } = relayer;
  return {
    id: relayer.id,
    revision: newRevision(),
    name: storableText(relayer.name),
    network: relayer.network,
    network_type: relayer.networkType,
    address: relayer.address,
    paused: relayer.paused ? 1 : 0,
    disabled_reason: relayer.disabledReason && JSON.stringify(relayer.disabledReason),
    signer_id: relayer.signerId,
    notification_id: relayer.notificationId,
    custom_rpc_urls: urls && sealerOf(connection).seal(JSON.stringify(urls), urlsPlace(relayer.id)),
    policies: JSON.stringify(relayer.policies),
    declaration: relayer.declaration === null ? null : JSON.stringify(relayer.declaration),
  };
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
