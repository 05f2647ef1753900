import type { ExpressionBuilder, RawBuilder } from 'kysely';
import { sql } from 'kysely';
import type { Connection } from '../connection.ts';
import type { Tables } from '../schema.ts';
import type { Reader, Writer } from '../store.ts';
import { sizeOfRow, UsageCounters } from './kv-usage.ts';

/** Above every character that a key may have. */
const AFTER_ALL_KEYS = '~';
/** What one step of a clearing may delete: others wait for the writer meanwhile. */
const CLEARED_KEYS = 500;
const CLEARED_BYTES = 2 * 1_048_576;

const isLive = (now: RawBuilder<number>) => (on: ExpressionBuilder<Tables, 'plugin_kv'>) =>
  on.or([on('expires_at', 'is', null), on('expires_at', '>', now)]);

/** Reads of the table `plugin_kv`. Values are texts that nobody but their plugin reads, so none is parsed here. */
export function kvReads(connection: Connection): Pick<Reader, 'kvGet' | 'kvHas' | 'kvKeys' | 'kvUsage'> {
  const { db, now } = connection;
  const counters = new UsageCounters(connection);
  return {
    async kvGet(pluginId, key) {
      const row = await db
        .selectFrom('plugin_kv')
        .select('value')
        .where('plugin_id', '=', pluginId)
        .where('key', '=', key)
        .where(isLive(now()))
        .executeTakeFirst();
      return row?.value;
    },

    async kvHas(pluginId, key) {
      const row = await db
        .selectFrom('plugin_kv')
        .select('key')
        .where('plugin_id', '=', pluginId)
        .where('key', '=', key)
        .where(isLive(now()))
        .executeTakeFirst();
      return row !== undefined;
    },

    async kvKeys(pluginId, { prefix, after, limit }) {
      let query = db
        .selectFrom('plugin_kv')
        .select('key')
        .where('plugin_id', '=', pluginId)
        .where('key', '<', prefix + AFTER_ALL_KEYS)
        .where(isLive(now()));
      query = after === undefined || after < prefix ? query.where('key', '>=', prefix) : query.where('key', '>', after);
      const rows = await query.orderBy('key').limit(limit).execute();
      return rows.map(({ key }) => key);
    },

    kvUsage: (pluginId) => counters.read(pluginId),
  };
}

/** Writes of the table `plugin_kv`, each with its count. */
export function kvWrites(
  connection: Connection,
): Pick<Writer, 'kvSet' | 'kvDelete' | 'kvClear' | 'kvReclaim' | 'kvPrune'> {
  const { db, now } = connection;
  const counters = new UsageCounters(connection);

  /** Deletes those of the given values that have expired; resolves with their number. */
  async function deleteExpired(rows: readonly { plugin_id: string; key: string }[]): Promise<number> {
    let deleted = 0;
    for (const { plugin_id, key } of rows) {
      const row = await db
        .deleteFrom('plugin_kv')
        .where('plugin_id', '=', plugin_id)
        .where('key', '=', key)
        .where('expires_at', '<=', now())
        .returning(sizeOfRow.as('size'))
        .executeTakeFirst();
      if (row === undefined) continue;
      await counters.subtract(plugin_id, { keys: 1, bytes: row.size });
      deleted += 1;
    }
    return deleted;
  }

  return {
    async kvSet(pluginId, key, json, { forMs, quota } = {}) {
      const before = await db
        .selectFrom('plugin_kv')
        .select(sizeOfRow.as('size'))
        .where('plugin_id', '=', pluginId)
        .where('key', '=', key)
        .executeTakeFirst();
      const size = Buffer.byteLength(key) + Buffer.byteLength(json);
      const growth = { keys: before === undefined ? 1 : 0, bytes: size - (before?.size ?? 0) };
      const used = await counters.add(pluginId, growth, quota);
      if (used !== undefined) return used;
      const expiresAt = forMs === undefined ? null : sql<number>`${now()} + ${sql.lit(Math.ceil(forMs))}`;
      const changing = { value: json, expires_at: expiresAt };
      await db
        .insertInto('plugin_kv')
        .values({ plugin_id: pluginId, key, ...changing })
        .onConflict((on) => on.columns(['plugin_id', 'key']).doUpdateSet(changing))
        .execute();
      return undefined;
    },

    async kvDelete(pluginId, key) {
      // An expired value was not there any more, so it stays for the next pruning.
      const row = await db
        .deleteFrom('plugin_kv')
        .where('plugin_id', '=', pluginId)
        .where('key', '=', key)
        .where(isLive(now()))
        .returning(sizeOfRow.as('size'))
        .executeTakeFirst();
      if (row === undefined) return false;
      await counters.subtract(pluginId, { keys: 1, bytes: row.size });
      return true;
    },

    async kvClear(pluginId, after) {
      const next = await db
        .selectFrom('plugin_kv')
        .select(['key', sizeOfRow.as('size')])
        .where('plugin_id', '=', pluginId)
        .where('key', '>', after)
        .orderBy('key')
        .limit(CLEARED_KEYS)
        .execute();
      let room = CLEARED_BYTES;
      const upTo = next.findIndex(({ size }) => {
        room -= size;
        return room <= 0;
      });
      const last = upTo === -1 ? next.at(-1) : next[upTo];
      if (last === undefined) return { live: 0, upTo: undefined };
      const deleted = await db
        .deleteFrom('plugin_kv')
        .where('plugin_id', '=', pluginId)
        .where('key', '>', after)
        .where('key', '<=', last.key)
        .returning([
          sizeOfRow.as('size'),
          sql<number>`case when expires_at is null or expires_at > ${now()} then 1 else 0 end`.as('live'),
        ])
        .execute();
      const sum = (part: 'size' | 'live') => deleted.reduce((total, row) => total + row[part], 0);
      await counters.subtract(pluginId, { keys: deleted.length, bytes: sum('size') });
      const isEnd = upTo === -1 && next.length < CLEARED_KEYS;
      return { live: sum('live'), upTo: isEnd ? undefined : last.key };
    },

    async kvReclaim(pluginId, limit) {
      const expired = await db
        .selectFrom('plugin_kv')
        .select(['plugin_id', 'key'])
        .where('plugin_id', '=', pluginId)
        .where('expires_at', '<=', now())
        .limit(limit)
        .execute();
      if (expired.length > 0) return (await deleteExpired(expired)) > 0;
      return await counters.recount(pluginId);
    },

    async kvPrune(limit) {
      const expired = await db
        .selectFrom('plugin_kv')
        .select(['plugin_id', 'key'])
        .where('expires_at', '<=', now())
        .orderBy('expires_at')
        .limit(limit)
        .execute();
      const pruned = await deleteExpired(expired);
      const locks = await db
        .selectFrom('plugin_locks')
        .select(['plugin_id', 'name'])
        .where('expires_at', '<=', now())
        .orderBy('expires_at')
        .limit(limit - pruned)
        .execute();
      let unlocked = 0;
      for (const { plugin_id, name } of locks) {
        const { numDeletedRows } = await db
          .deleteFrom('plugin_locks')
          .where('plugin_id', '=', plugin_id)
          .where('name', '=', name)
          .where('expires_at', '<=', now())
          .executeTakeFirstOrThrow();
        unlocked += Number(numDeletedRows);
      }
      return pruned + unlocked;
    },
  };
}
