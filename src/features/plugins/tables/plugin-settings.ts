import type { Connection } from '../../../store/connection.ts';
import type { StoreReader, StoreWriter } from '../../../store/store.ts';
import { recordOfRow, rowOfRecord } from '../../../store/tables/stored-record.ts';
import { pluginSettingsRecord } from '../records/plugin-settings.ts';

/** A plugin whose settings are damaged is disabled: they may have narrowed what it does. */
const DAMAGED = { settings: '{}', is_disabled: 1 };

/** Reads of the table `plugin_settings`. */
export function pluginSettingsReads(connection: Connection) {
  const all = connection.db.selectFrom('plugin_settings').selectAll();
  return {
    async storedPlugin(id) {
      const row = await all.where('plugin_id', '=', id).executeTakeFirst();
      return row && recordOfRow(pluginSettingsRecord, row, connection, DAMAGED);
    },

    async storedPlugins() {
      return (await all.orderBy('plugin_id').execute()).map((row) =>
        recordOfRow(pluginSettingsRecord, row, connection, DAMAGED),
      );
    },
  } satisfies Partial<StoreReader>;
}

/** Writes of the table `plugin_settings`. */
export function pluginSettingsWrites(connection: Connection) {
  const { db } = connection;
  return {
    async putPlugin(plugin) {
      const row = rowOfRecord(pluginSettingsRecord, plugin, connection);
      await db
        .insertInto('plugin_settings')
        .values(row)
        .onConflict((on) => on.column('plugin_id').doUpdateSet(row))
        .execute();
    },

    async deletePlugin(id) {
      await db.deleteFrom('plugin_settings').where('plugin_id', '=', id).execute();
    },
  } satisfies Partial<StoreWriter>;
}
