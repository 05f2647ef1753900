import { type RawBuilder, sql } from 'kysely';
import type { Connection } from '../../../store/connection.ts';
import type { KvQuota, KvUsage } from '../records/kv.ts';

/** Before a count refuses a value, it is made anew if it is older than this, in milliseconds. */
const TRUSTED_MS = 3_600_000;

/** Bytes that one row of `plugin_kv` adds to its plugin's count. */
export const kvRowSize: RawBuilder<number> = sql<number>`octet_length(key) + octet_length(value)`;

/**
 * The counters of each plugin, in the table `plugin_kv_usage`. Each change of values changes them in the same commit.
 * Where a plugin has no row, they are counted from the values.
 */
export class KvUsageCounters {
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
