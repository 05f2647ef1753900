import type { Connection } from '../../store/connection.ts';
import type { StoreReader, StoreWriter } from '../../store/store.ts';
import { countOf, pageBounds } from '../../store/tables/lists.ts';
import { recordOfRow } from '../../store/tables/stored-record.ts';
import { apiKeyRecord } from './records/api-key.ts';

/** Reads of the table `api_keys`. */
export function apiKeyReads({ db }: Connection) {
  const newestFirst = db.selectFrom('api_keys').orderBy('created_at', 'desc').orderBy('id', 'desc');
  return {
    async apiKey(id) {
      const row = await db.selectFrom('api_keys').selectAll().where('id', '=', id).executeTakeFirst();
      return row && recordOfRow(apiKeyRecord, row);
    },

    async apiKeys(page) {
      const { limit, offset } = pageBounds(page);
      const rows = await newestFirst.selectAll().limit(limit).offset(offset).execute();
      const total = await db
        .selectFrom('api_keys')
        .select((on) => on.fn.countAll<number>().as('total'))
        .execute();
      return { items: rows.map((row) => recordOfRow(apiKeyRecord, row)), total: countOf(total) };
    },

    async apiKeyHashes() {
      const rows = await newestFirst.selectAll().execute();
      return new Map(rows.map((row) => [row.hash, recordOfRow(apiKeyRecord, row)]));
    },
  } satisfies Partial<StoreReader>;
}

/** Writes of the table `api_keys`. */
export function apiKeyWrites({ db, now }: Connection) {
  return {
    async insertApiKey(key, hash) {
      await db
        .insertInto('api_keys')
        .values({ ...apiKeyRecord.write(key), created_at: now(), hash })
        .execute();
    },

    async updateApiKey({ id, ...change }) {
      await db.updateTable('api_keys').set(apiKeyRecord.writeChange(change)).where('id', '=', id).execute();
    },

    async deleteApiKey(id) {
      const { numDeletedRows } = await db.deleteFrom('api_keys').where('id', '=', id).executeTakeFirstOrThrow();
      return numDeletedRows === 1n;
    },
  } satisfies Partial<StoreWriter>;
}
