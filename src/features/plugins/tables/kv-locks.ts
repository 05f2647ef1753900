import { sql } from 'kysely';
import type { Connection } from '../../../store/connection.ts';
import type { StoreWriter } from '../../../store/store.ts';
import { KvUsageCounters } from './kv-usage.ts';

/** Writes of the table `plugin_locks`. Its rows are the locks that were taken and not released. */
export function kvLockWrites(connection: Connection): Pick<StoreWriter, 'kvLock' | 'kvUnlock' | 'kvLostLock'> {
  const { db, now } = connection;
  const counters = new KvUsageCounters(connection);
  return {
    async kvLock(pluginId, name, { owner, isAlone, forMs }) {
      const row = await db
        .selectFrom('plugin_locks')
        .select('owner')
        .select(sql<number>`case when expires_at > ${now()} then 1 else 0 end`.as('is_held'))
        .where('plugin_id', '=', pluginId)
        .where('name', '=', name)
        .executeTakeFirst();
      if (row?.is_held === 1 && !(isAlone && row.owner !== owner)) return null;
      // If two instances get here at once, PostgreSQL makes one run again, and that one finds the lock held.
      const fence = await counters.nextFence(pluginId);
      const changing = { fence, owner, expires_at: sql<number>`${now()} + ${sql.lit(Math.ceil(forMs))}` };
      await db
        .insertInto('plugin_locks')
        .values({ plugin_id: pluginId, name, ...changing })
        .onConflict((on) => on.columns(['plugin_id', 'name']).doUpdateSet(changing))
        .execute();
      return { name, fence };
    },

    async kvUnlock(pluginId, { name, fence }) {
      const { numDeletedRows } = await db
        .deleteFrom('plugin_locks')
        .where('plugin_id', '=', pluginId)
        .where('name', '=', name)
        .where('fence', '=', fence)
        .executeTakeFirstOrThrow();
      return numDeletedRows === 1n;
    },

    async kvLostLock(pluginId, locks) {
      for (const lock of locks) {
        // A write that changes nothing. Until the commit no other instance can take the lock. With a read, a stale
        // holder could commit after a takeover.
        const { numUpdatedRows } = await db
          .updateTable('plugin_locks')
          .set({ fence: lock.fence })
          .where('plugin_id', '=', pluginId)
          .where('name', '=', lock.name)
          .where('fence', '=', lock.fence)
          .where('expires_at', '>', now())
          .executeTakeFirstOrThrow();
        if (numUpdatedRows === 0n) return lock;
      }
      return undefined;
    },
  };
}
