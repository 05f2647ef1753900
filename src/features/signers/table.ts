import { jsonObjectColumn } from '../../domain/record.ts';
import { type Connection, sealerOf } from '../../store/connection.ts';
import { preparedQuery } from '../../store/prepared.ts';
import type { StoreReader, StoreWriter } from '../../store/store.ts';
import { countOf, pageBounds } from '../../store/tables/lists.ts';
import { DuplicateRecord, recordOfRow, sealedPlaceOf } from '../../store/tables/stored-record.ts';
import { signerRecord } from './record.ts';

/** The sealed configuration is read and written apart. */
const CONFIG = 'config';

/** Reads of the table `signers`. */
export function signerReads(connection: Connection) {
  const { db } = connection;
  const byId = preparedQuery(connection, (id: string) =>
    db.selectFrom('signers').select(signerRecord.names).where('id', '=', id),
  );
  const newestFirst = db
    .selectFrom('signers')
    .select(signerRecord.names)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc');
  return {
    async storedSigner(id) {
      const [row] = await byId(id);
      return row && recordOfRow(signerRecord, row);
    },

    async storedSigners(page) {
      const { limit, offset } = pageBounds(page);
      const rows = await newestFirst.limit(limit).offset(offset).execute();
      const total = await db
        .selectFrom('signers')
        .select((on) => on.fn.countAll<number>().as('total'))
        .execute();
      return { items: rows.map((row) => recordOfRow(signerRecord, row)), total: countOf(total) };
    },

    async allSigners() {
      return (await newestFirst.execute()).map((row) => recordOfRow(signerRecord, row));
    },

    async signerConfig(id, stamp) {
      const row = await db
        .selectFrom('signers')
        .select('config')
        .where('id', '=', id)
        .where('stamp', '=', stamp)
        .executeTakeFirst();
      if (row === undefined) return undefined;
      const config = sealerOf(connection).open(row.config, sealedPlaceOf(signerRecord, { id }, CONFIG));
      return jsonObjectColumn.schema.parse(config);
    },
  } satisfies Partial<StoreReader>;
}

/** Writes of the table `signers`. */
export function signerWrites(connection: Connection) {
  const { db, now } = connection;
  return {
    async insertSigner(signer, config) {
      const { id } = signer;
      const sealed = sealerOf(connection).seal(JSON.stringify(config), sealedPlaceOf(signerRecord, { id }, CONFIG));
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('signers')
        .values({ ...signerRecord.write(signer), created_at: now(), config: sealed })
        .onConflict((on) => on.column('id').doNothing())
        .executeTakeFirstOrThrow();
      if (numInsertedOrUpdatedRows !== 1n) throw new DuplicateRecord('signers', id);
    },

    async deleteSigner(id) {
      const { numDeletedRows } = await db.deleteFrom('signers').where('id', '=', id).executeTakeFirstOrThrow();
      return numDeletedRows === 1n;
    },
  } satisfies Partial<StoreWriter>;
}
