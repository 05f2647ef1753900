import type { ExpressionBuilder, RawBuilder } from 'kysely';
import type { Connection } from './connection.ts';
import type { Tables } from './schema.ts';
import type { Reader, Writer } from './store.ts';
import { anyJsonSchema, jsonText, readRecord } from './stored-record.ts';

const valueSchema = jsonText(anyJsonSchema);

const isLive = (now: RawBuilder<number>) => (on: ExpressionBuilder<Tables, 'plugin_kv'>) =>
  on.or([on('expires_at', 'is', null), on('expires_at', '>', now)]);

/** Reads of the table `plugin_kv`. */
export function kvReads({ db, now }: Connection): Pick<Reader, 'kvGet'> {
  return {
    async kvGet(pluginId, key) {
      const row = await db
        .selectFrom('plugin_kv')
        .select('value')
        .where('plugin_id', '=', pluginId)
        .where('key', '=', key)
        .where(isLive(now()))
        .executeTakeFirst();
      return row && readRecord(valueSchema, 'plugin_kv', `${pluginId}/${key}`, row.value);
    },
  };
}

/** Writes of the table `plugin_kv`. */
export function kvWrites({ db, now }: Connection): Pick<Writer, 'kvSet' | 'kvDelete' | 'kvPrune'> {
  return {
    async kvSet(pluginId, key, value, expiresAt) {
      const changing = { value: JSON.stringify(value), expires_at: expiresAt };
      await db
        .insertInto('plugin_kv')
        .values({ plugin_id: pluginId, key, ...changing })
        .onConflict((on) => on.columns(['plugin_id', 'key']).doUpdateSet(changing))
        .execute();
    },

    async kvDelete(pluginId, key) {
      // An expired value was not there any more, so it stays for the next pruning.
      const { numDeletedRows } = await db
        .deleteFrom('plugin_kv')
        .where('plugin_id', '=', pluginId)
        .where('key', '=', key)
        .where(isLive(now()))
        .executeTakeFirstOrThrow();
      return numDeletedRows === 1n;
    },

    async kvPrune(limit) {
      const expired = await db
        .selectFrom('plugin_kv')
        .select(['plugin_id', 'key'])
        .where('expires_at', '<=', now())
        .orderBy('expires_at')
        .limit(limit)
        .execute();
      let pruned = 0;
      for (const { plugin_id, key } of expired) {
        const { numDeletedRows } = await db
          .deleteFrom('plugin_kv')
          .where('plugin_id', '=', plugin_id)
          .where('key', '=', key)
          .where('expires_at', '<=', now())
          .executeTakeFirstOrThrow();
        pruned += Number(numDeletedRows);
      }
      return pruned;
    },
  };
}
