import type { Kysely } from 'kysely';
import { z } from 'zod';
import type { JsonObject } from '../../../domain/json/json.ts';
import { jsonObject } from '../../../domain/record.ts';
import type { StoredSigner } from '../../../domain/settings/signer.ts';
import type { Log } from '../../../observability/log.ts';
import { type Connection, sealerOf } from '../../connection.ts';
import { prepared } from '../../prepared.ts';
import type { Tables } from '../../schema.ts';
import { type SealedPlace, type Sealer, UnsealableSecret } from '../../sealing.ts';
import type { Reader, Writer } from '../../store.ts';
import { pageBounds, totalOf } from '../lists/paging.ts';
import { DuplicateRecord, readRecord } from '../stored-record.ts';

const rowSchema: z.ZodType<StoredSigner> = z.strictObject({
  id: z.string(),
  type: z.string(),
  stamp: z.string(),
  shown: jsonObject.schema,
});
const configSchema: z.ZodType<JsonObject> = jsonObject.schema;

/**
 * The place that a signer's sealed configuration is bound to. All of it is sealed, as it holds keys and credentials.
 */
function configPlace(id: string): SealedPlace {
  return { table: 'signers', row: id, field: 'config' };
}

const SHOWN = ['id', 'type', 'stamp', 'shown'] as const;

/** Reads of the table `signers`. */
export function signerReads(
  connection: Connection,
): Pick<Reader, 'storedSigner' | 'storedSigners' | 'allSigners' | 'signerConfig'> {
  const { db } = connection;
  const byId = prepared(connection, (id: string) => db.selectFrom('signers').select(SHOWN).where('id', '=', id));
  const newestFirst = db.selectFrom('signers').select(SHOWN).orderBy('created_at', 'desc').orderBy('id', 'desc');
  return {
    async storedSigner(id) {
      const [row] = await byId(id);
      return row && readRecord(rowSchema, 'signers', id, row);
    },

    async storedSigners(page) {
      const { limit, offset } = pageBounds(page);
      const rows = await newestFirst.limit(limit).offset(offset).execute();
      const total = await db
        .selectFrom('signers')
        .select((on) => on.fn.countAll<number>().as('total'))
        .execute();
      return { items: rows.map((row) => readRecord(rowSchema, 'signers', row.id, row)), total: totalOf(total) };
    },

    async allSigners() {
      return (await newestFirst.execute()).map((row) => readRecord(rowSchema, 'signers', row.id, row));
    },

    async signerConfig(id, stamp) {
      const row = await db
        .selectFrom('signers')
        .select('config')
        .where('id', '=', id)
        .where('stamp', '=', stamp)
        .executeTakeFirst();
      return row && readRecord(configSchema, 'signers', id, sealerOf(connection).open(row.config, configPlace(id)));
    },
  };
}

/** Writes of the table `signers`. */
export function signerWrites(connection: Connection): Pick<Writer, 'insertSigner' | 'deleteSigner'> {
  const { db, now } = connection;
  return {
    async insertSigner({ id, type, stamp, shown }, config) {
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('signers')
        .values({
          id,
          type,
          stamp,
          created_at: now(),
          shown: JSON.stringify(shown),
          config: sealerOf(connection).seal(JSON.stringify(config), configPlace(id)),
        })
        .onConflict((on) => on.column('id').doNothing())
        .executeTakeFirstOrThrow();
      if (numInsertedOrUpdatedRows !== 1n) throw new DuplicateRecord('signers', id);
    },

    async deleteSigner(id) {
      const { numDeletedRows } = await db.deleteFrom('signers').where('id', '=', id).executeTakeFirstOrThrow();
      return numDeletedRows === 1n;
    },
  };
}

/**
 * Seals configurations anew under the first key, as `resealNotifications` does. One that cannot be opened stays as it
 * is: it stops only the relayers of its signer.
 */
export async function resealSigners(db: Kysely<Tables>, sealer: Sealer, log: Log): Promise<void> {
  for (const { id, config: sealed } of await db.selectFrom('signers').select(['id', 'config']).execute()) {
    if (!sealer.isOutdated(sealed)) continue;
    try {
      const config = sealer.seal(sealer.open(sealed, configPlace(id)), configPlace(id));
      await db.updateTable('signers').set({ config }).where('id', '=', id).execute();
    } catch (err) {
      if (!(err instanceof UnsealableSecret)) throw err;
      log.error({ err, signer: id }, 'a stored signer cannot be opened: its relayers sign nothing');
    }
  }
}
