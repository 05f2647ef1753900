import { z } from 'zod';
import { networkTypeSchema } from '../domain/network-type.ts';
import type { DisabledReason, Relayer, RpcUrl } from '../domain/relayer.ts';
import type { Connection } from './connection.ts';
import { pageBounds } from './paging.ts';
import type { RelayerTable } from './schema.ts';
import type { Reader, Writer } from './store.ts';
import { anyJsonObjectSchema, anyJsonSchema, flagSchema, jsonText, readRecord, storableText } from './stored-record.ts';

const causeSchema = z.strictObject({
  type: z.enum(['NonceSyncFailed', 'RpcValidationFailed', 'BalanceCheckFailed', 'SequenceSyncFailed']),
  details: z.string(),
});
const disabledReasonSchema: z.ZodType<DisabledReason> = z.union([
  causeSchema,
  z.strictObject({ type: z.literal('Multiple'), details: z.array(causeSchema) }),
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

function fromRow(row: RelayerTable): Relayer {
  return readRecord(rowSchema, 'relayers', row.id, row);
}

function toRow(relayer: Relayer): Omit<RelayerTable, 'created_at'> {
  return {
    id: relayer.id,
    name: storableText(relayer.name),
    network: relayer.network,
    network_type: relayer.networkType,
    address: relayer.address,
    paused: relayer.paused ? 1 : 0,
    disabled_reason: relayer.disabledReason && JSON.stringify(relayer.disabledReason),
    signer_id: relayer.signerId,
    notification_id: relayer.notificationId,
    custom_rpc_urls: relayer.customRpcUrls && JSON.stringify(relayer.customRpcUrls),
    policies: JSON.stringify(relayer.policies),
    declaration: relayer.declaration === null ? null : JSON.stringify(relayer.declaration),
  };
}

/** Reads of the table `relayers`. */
export function relayerReads({ db }: Connection): Pick<Reader, 'relayer' | 'relayers' | 'allRelayers'> {
  // Those that one write declared came at the same time; their ids put them in an order.
  const newestFirst = db.selectFrom('relayers').selectAll().orderBy('created_at', 'desc').orderBy('id', 'desc');
  return {
    async relayer(id) {
      const row = await db.selectFrom('relayers').selectAll().where('id', '=', id).executeTakeFirst();
      return row && fromRow(row);
    },

    async relayers(page) {
      const { limit, offset } = pageBounds(page);
      const rows = await newestFirst.limit(limit).offset(offset).execute();
      const { total } = await db
        .selectFrom('relayers')
        .select((on) => on.fn.countAll<number>().as('total'))
        .executeTakeFirstOrThrow();
      return { items: rows.map(fromRow), total };
    },

    async allRelayers() {
      return (await newestFirst.execute()).map(fromRow);
    },
  };
}

/** Writes of the table `relayers`. */
export function relayerWrites({ db, now }: Connection): Pick<Writer, 'putRelayer' | 'deleteRelayer'> {
  return {
    async putRelayer(relayer) {
      const row = toRow(relayer);
      await db
        .insertInto('relayers')
        .values({ ...row, created_at: now() })
        .onConflict((on) => on.column('id').doUpdateSet(row))
        .execute();
    },

    async deleteRelayer(id) {
      const { numDeletedRows } = await db.deleteFrom('relayers').where('id', '=', id).executeTakeFirstOrThrow();
      return numDeletedRows === 1n;
    },
  };
}
