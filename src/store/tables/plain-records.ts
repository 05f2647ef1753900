import type { Columns, RecordKind } from '../../domain/record.ts';
import type { Connection } from '../connection.ts';
import type { PlainKind } from '../settings-store.ts';
import type { StoreReader, StoreWriter } from '../store.ts';
import { countOf, pageBounds } from './lists.ts';
import { recordOfRow, rowOfRecord } from './stored-record.ts';

/** A table that has an `id`, the time of its creation and a record's columns. Which one is known when it is asked for. */
type PlainTable = 'signers';

/** The tools of records ask for the columns too, and go by these members alone. */
const known = <T>(kind: PlainKind<T>) => kind as unknown as RecordKind<Columns, never>;

/** Reads of records without statements of their own. */
export function plainReads(connection: Connection): Pick<StoreReader, 'plainRecord' | 'plainRecords'> {
  const { db } = connection;
  return {
    async plainRecord(kind, id) {
      const all = db.selectFrom(kind.table as PlainTable).selectAll();
      const row = await all.where('id', '=', id).executeTakeFirst();
      return row && (recordOfRow(known(kind), row, connection) as never);
    },

    async plainRecords(kind, page) {
      const table = db.selectFrom(kind.table as PlainTable);
      const { limit, offset } = pageBounds(page);
      const newestFirst = table.selectAll().orderBy('created_at', 'desc').orderBy('id', 'desc');
      const rows = await newestFirst.limit(limit).offset(offset).execute();
      const total = countOf(await table.select((on) => on.fn.countAll<number>().as('total')).execute());
      return { items: rows.map((row) => recordOfRow(known(kind), row, connection) as never), total };
    },
  };
}

/** Writes of the same. */
export function plainWrites(connection: Connection): Pick<StoreWriter, 'putPlainRecord' | 'deletePlainRecord'> {
  const { db, now } = connection;
  return {
    async putPlainRecord(kind, record) {
      const row = rowOfRecord(known(kind), record as never, connection);
      await db
        .insertInto(kind.table as PlainTable)
        .values({ ...(row as object), created_at: now() } as never)
        .onConflict((on) => on.column('id').doUpdateSet(row as object))
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
