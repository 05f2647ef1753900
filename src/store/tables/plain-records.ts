import type { Columns, FieldsOf, RecordKind } from '../../domain/record.ts';
import type { Connection } from '../connection.ts';
import type { StoreReader, StoreWriter } from '../store.ts';
import { countOf, pageBounds } from './lists.ts';
import { recordOfRow, rowOfRecord } from './stored-record.ts';

/** A table that has an `id`, the time of its creation and a record's columns. Which one is known when it is asked for. */
type PlainTable = 'signers';

/** Reads of records without statements of their own. */
export function plainReads(connection: Connection): Pick<StoreReader, 'plainRecord' | 'plainRecords'> {
  const { db } = connection;
  return {
    async plainRecord(kind, id) {
      const all = db.selectFrom(kind.table as PlainTable).selectAll();
      const row = await all.where('id', '=', id).executeTakeFirst();
      return row && recordOfRow(kind, row, connection);
    },

    async plainRecords<C extends Columns>(kind: RecordKind<C, never>, page: Parameters<typeof pageBounds>[0]) {
      const table = db.selectFrom(kind.table as PlainTable);
      const { limit, offset } = pageBounds(page);
      const newestFirst = table.selectAll().orderBy('created_at', 'desc').orderBy('id', 'desc');
      const rows = await newestFirst.limit(limit).offset(offset).execute();
      const total = countOf(await table.select((on) => on.fn.countAll<number>().as('total')).execute());
      return { items: rows.map((row): FieldsOf<C> => recordOfRow(kind, row, connection)), total };
    },
  };
}

/** Writes of the same. */
export function plainWrites(connection: Connection): Pick<StoreWriter, 'putPlainRecord' | 'deletePlainRecord'> {
  const { db, now } = connection;
  return {
    async putPlainRecord(kind, record) {
      const row = rowOfRecord(kind, record, connection) as object;
      await db
        .insertInto(kind.table as PlainTable)
        .values({ ...row, created_at: now() } as never)
        .onConflict((on) => on.column('id').doUpdateSet(row))
        .execute();
    },

    async deletePlainRecord(kind, id) {
      const { numDeletedRows } = await db
        .deleteFrom(kind.table as PlainTable)
        .where('id', '=', id)
        .executeTakeFirstOrThrow();
      return numDeletedRows === 1n;
    },
  };
}
