import type { ExpressionBuilder, RawBuilder } from 'kysely';
import { sql } from 'kysely';
import type { Connection } from '../../../store/connection.ts';
import type { Tables } from '../../../store/schema.ts';
import type { StoreReader, StoreWriter } from '../../../store/store.ts';
import { KvUsageCounters, kvRowSize } from './kv-usage.ts';

/** A character above all that a key may contain. */
const AFTER_ALL_KEYS = '~';
/** Most keys and bytes that one step of clearing deletes: other writers wait during the step. */
const CLEARED_KEYS = 500;
const CLEARED_BYTES = 2 * 1_048_576;

/** A stored value's key and size. */
interface FoundRow {
  plugin_id: string;
  key: string;
  size: number;
}

const bytesOf = (rows: readonly { size: number }[]) => rows.reduce((sum, { size }) => sum + size, 0);

const isLive = (now: RawBuilder<number>) => (on: ExpressionBuilder<Tables, 'plugin_kv'>) =>
  on.or([on('expires_at', 'is', null), on('expires_at', '>', now)]);

/** Reads of the table `plugin_kv`. Only a value's plugin reads its text, so values are not parsed here. */
export function kvReads(connection: Connection): Pick<StoreReader, 'kvGet' | 'kvHas' | 'kvKeys' | 'kvUsage'> {
  const { db, now } = connection;
  const counters = new KvUsageCounters(connection);
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

/**
 * Writes of the table `plugin_kv`, each with its count. Each write locks a plugin's counters first and its values
 * second. If two writers locked them in different orders, each would wait for the other, until PostgreSQL ends one a
 * second later.
 */
export function kvWrites(
  connection: Connection,
): Pick<StoreWriter, 'kvSet' | 'kvDelete' | 'kvClear' | 'kvReclaim' | 'kvPrune'> {
  const { db, now } = connection;
  const counters = new KvUsageCounters(connection);

  /** Deletes values that this body has found, one plugin after another. */
  async function deleteFound(rows: readonly FoundRow[]): Promise<void> {
    const byPlugin = Map.groupBy(rows, (row) => row.plugin_id);
    for (const [pluginId, found] of [...byPlugin].toSorted(([one], [other]) => (one < other ? -1 : 1))) {
      await counters.subtract(pluginId, { keys: found.length, bytes: bytesOf(found) });
      for (const { key } of found) {
        await db.deleteFrom('plugin_kv').where('plugin_id', '=', pluginId).where('key', '=', key).execute();
      }
    }
  }

  return {
    async kvSet(pluginId, key, json, { forMs, quota } = {}) {
      const before = await db
        .selectFrom('plugin_kv')
        .select(kvRowSize.as('size'))
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
      // An expired value counts as deleted already. The next pruning removes it.
      const row = await db
        .selectFrom('plugin_kv')
        .select(['plugin_id', 'key', kvRowSize.as('size')])
        .where('plugin_id', '=', pluginId)
        .where('key', '=', key)
        .where(isLive(now()))
        .executeTakeFirst();
      if (row === undefined) return false;
      await deleteFound([row]);
      return true;
    },

    async kvClear(pluginId, after) {
      const next = await db
        .selectFrom('plugin_kv')
        .select([
          'key',
          kvRowSize.as('size'),
          sql<number>`case when expires_at is null or expires_at > ${now()} then 1 else 0 end`.as('live'),
        ])
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
      const found = upTo === -1 ? next : next.slice(0, upTo + 1);
      const last = found.at(-1);
      if (last === undefined) return { live: 0, upTo: undefined };
      await counters.subtract(pluginId, { keys: found.length, bytes: bytesOf(found) });
      await db
        .deleteFrom('plugin_kv')
        .where('plugin_id', '=', pluginId)
        .where('key', '>', after)
        .where('key', '<=', last.key)
        .execute();
      const isEnd = upTo === -1 && next.length < CLEARED_KEYS;
      return { live: found.reduce((sum, { live }) => sum + live, 0), upTo: isEnd ? undefined : last.key };
    },

    async kvReclaim(pluginId, limit) {
      const expired = await db
        .selectFrom('plugin_kv')
        .select(['plugin_id', 'key', kvRowSize.as('size')])
        .where('plugin_id', '=', pluginId)
        .where('expires_at', '<=', now())
        .limit(limit)
        .execute();
      if (expired.length === 0) return await counters.recount(pluginId);
      await deleteFound(expired);
      return true;
    },

    async kvPrune(limit) {
      const expired = await db
        .selectFrom('plugin_kv')
        .select(['plugin_id', 'key', kvRowSize.as('size')])
        .where('expires_at', '<=', now())
        .orderBy('expires_at')
        .limit(limit)
        .execute();
      await deleteFound(expired);
      const locks = await db
        .selectFrom('plugin_locks')
        .select(['plugin_id', 'name'])
        .where('expires_at', '<=', now())
        .orderBy('expires_at')
        .limit(limit - expired.length)
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
      return expired.length + unlocked;
    },
  };
}
