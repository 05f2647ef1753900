import { type ExpressionBuilder, type RawBuilder, sql } from 'kysely';
import type { Connection } from '../../../store/connection.ts';
import { preparedQuery } from '../../../store/prepared.ts';
import type { Tables } from '../../../store/schema.ts';
import type { StoreReader, StoreWriter } from '../../../store/store.ts';
import type { KvQuota, KvUsage } from '../records/kv.ts';

/** Before a count refuses a value, it is made anew if it is older than this, in milliseconds. */
const TRUSTED_MS = 3_600_000;

/** Bytes that one row of `plugin_kv` adds to its plugin's count. */
const kvRowSize: RawBuilder<number> = sql<number>`octet_length(key) + octet_length(value)`;

/**
 * The counters of each plugin, in the table `plugin_kv_usage`. Each change of values changes them in the same commit.
 * Where a plugin has no row, they are counted from the values.
 */
class KvUsageCounters {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Returns a plugin's usage. Counts the values when the plugin has no row. */
  async read(pluginId: string): Promise<KvUsage> {
    const row = await this.#connection.db
      .selectFrom('plugin_kv_usage')
      .select(['keys', 'bytes'])
      .where('plugin_id', '=', pluginId)
      .executeTakeFirst();
    return row === undefined ? await this.#counted(pluginId) : { ...row };
  }

  /**
   * Adds the growth of a write. A figure that does not grow is not checked against its limit, so that a plugin above a
   * lowered limit can still replace and delete.
   * @returns the present usage when the growth would be too much; nothing is added then
   */
  async add(pluginId: string, growth: KvUsage, quota?: KvQuota): Promise<KvUsage | undefined> {
    if (growth.keys === 0 && growth.bytes === 0) return undefined;
    if (await this.#addWithin(pluginId, growth, quota)) return undefined;
    if ((await this.#ensured(pluginId)) && (await this.#addWithin(pluginId, growth, quota))) return undefined;
    return await this.read(pluginId);
  }

  /** Subtracts deleted values. */
  async subtract(pluginId: string, { keys, bytes }: KvUsage): Promise<void> {
    await this.#addWithin(pluginId, { keys: -keys, bytes: -bytes });
  }

  /** Counts a plugin's values anew if the last count is an hour old. True when the figures changed. */
  async recount(pluginId: string): Promise<boolean> {
    const { db, now } = this.#connection;
    const old = await db
      .selectFrom('plugin_kv_usage')
      .select(['keys', 'bytes'])
      .where('plugin_id', '=', pluginId)
      .where('counted_at', '<', sql<number>`${now()} - ${sql.lit(TRUSTED_MS)}`)
      .executeTakeFirst();
    if (old === undefined) return false;
    const usage = await this.#counted(pluginId);
    await db
      .updateTable('plugin_kv_usage')
      .set({ ...usage, counted_at: now() })
      .where('plugin_id', '=', pluginId)
      .execute();
    return usage.keys !== old.keys || usage.bytes !== old.bytes;
  }

  /** Returns a new fence, higher than all earlier ones of the plugin. */
  async nextFence(pluginId: string): Promise<number> {
    const raise = () =>
      this.#connection.db
        .updateTable('plugin_kv_usage')
        .set((on) => ({ last_fence: on('last_fence', '+', 1) }))
        .where('plugin_id', '=', pluginId)
        .returning('last_fence')
        .executeTakeFirst();
    let row = await raise();
    if (row === undefined) {
      await this.#ensured(pluginId);
      row = await raise();
    }
    if (row === undefined) throw new Error(`The counters of plugin ${pluginId} cannot be written`);
    return row.last_fence;
  }

  async #addWithin(pluginId: string, { keys, bytes }: KvUsage, quota?: KvQuota): Promise<boolean> {
    let update = this.#connection.db
      .updateTable('plugin_kv_usage')
      .set((on) => ({ keys: on('keys', '+', keys), bytes: on('bytes', '+', bytes) }))
      .where('plugin_id', '=', pluginId);
    if (quota !== undefined && keys > 0) update = update.where('keys', '<=', quota.keys - keys);
    if (quota !== undefined && bytes > 0) update = update.where('bytes', '<=', quota.bytes - bytes);
    const { numUpdatedRows } = await update.executeTakeFirstOrThrow();
    return numUpdatedRows === 1n;
  }

  /** Makes a plugin's row. False when the plugin has one already. */
  async #ensured(pluginId: string): Promise<boolean> {
    const { db, now } = this.#connection;
    const known = await db
      .selectFrom('plugin_kv_usage')
      .select('plugin_id')
      .where('plugin_id', '=', pluginId)
      .executeTakeFirst();
    if (known !== undefined) return false;
    await db
      .insertInto('plugin_kv_usage')
      .values({ plugin_id: pluginId, ...(await this.#counted(pluginId)), last_fence: 0, counted_at: now() })
      // If two instances insert at once, PostgreSQL makes one of them collide with the other and run again.
      .onConflict((on) => on.doNothing())
      .execute();
    return true;
  }

  async #counted(pluginId: string): Promise<KvUsage> {
    const counted = await this.#connection.db
      .selectFrom('plugin_kv')
      .select((on) => on.fn.countAll<number>().as('keys'))
      .select(sql<number>`cast(coalesce(sum(${kvRowSize}), 0) as bigint)`.as('bytes'))
      .where('plugin_id', '=', pluginId)
      .executeTakeFirstOrThrow();
    return { ...counted };
  }
}

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
export function kvReads(connection: Connection) {
  const { db, now } = connection;
  const counters = new KvUsageCounters(connection);
  const live = (pluginId: string, key: string) =>
    db.selectFrom('plugin_kv').where('plugin_id', '=', pluginId).where('key', '=', key).where(isLive(now()));
  const valueOf = preparedQuery(connection, (pluginId: string, key: string) => live(pluginId, key).select('value'));
  const keyOf = preparedQuery(connection, (pluginId: string, key: string) => live(pluginId, key).select('key'));
  return {
    async kvGet(pluginId, key) {
      const [row] = await valueOf(pluginId, key);
      return row?.value;
    },

    async kvHas(pluginId, key) {
      return (await keyOf(pluginId, key)).length > 0;
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
  } satisfies Partial<StoreReader>;
}

/**
 * Writes of the table `plugin_kv`, each with its count. Each write locks a plugin's counters first and its values
 * second. If two writers locked them in different orders, each would wait for the other, until PostgreSQL ends one a
 * second later.
 */
export function kvWrites(connection: Connection) {
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
  } satisfies Partial<StoreWriter>;
}

/** Writes of the table `plugin_locks`. Its rows are the locks that were taken and not released. */
export function kvLockWrites(connection: Connection) {
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
  } satisfies Partial<StoreWriter>;
}
