import type { Kysely } from 'kysely';
import { z } from 'zod';
import { flag, jsonText } from '../../../domain/record.ts';
import { pluginSettingsSchema, type StoredPlugin } from '../../../domain/settings/plugin-settings.ts';
import { type Connection, sealerOf } from '../../connection.ts';
import type { PluginSettingsTable, Tables } from '../../schema.ts';
import type { SealedPlace, Sealer } from '../../sealing.ts';
import type { Reader, Writer } from '../../store.ts';
import { readRecord } from '../stored-record.ts';

const rowSchema = z
  .object({
    plugin_id: z.string(),
    settings: jsonText(pluginSettingsSchema),
    is_disabled: flag.schema,
    declared: jsonText(z.record(z.string(), z.string())),
  })
  .transform(
    (row): StoredPlugin => ({
      pluginId: row.plugin_id,
      settings: row.settings,
      isDisabled: row.is_disabled,
      declared: row.declared,
    }),
  );

/**
 * The place that a plugin's sealed settings are bound to. They are sealed because a configuration often contains keys.
 */
function settingsPlace(id: string): SealedPlace {
  return { table: 'plugin_settings', row: id, field: 'settings' };
}

function fromRow(connection: Connection, row: PluginSettingsTable): StoredPlugin {
  const settings = sealerOf(connection).open(row.settings, settingsPlace(row.plugin_id));
  return readRecord(rowSchema, 'plugin_settings', row.plugin_id, { ...row, settings });
}

/** Reads of the table `plugin_settings`. */
export function pluginSettingsReads(connection: Connection): Pick<Reader, 'storedPlugin' | 'storedPlugins'> {
  const all = connection.db.selectFrom('plugin_settings').selectAll();
  return {
    async storedPlugin(id) {
      const row = await all.where('plugin_id', '=', id).executeTakeFirst();
      return row && fromRow(connection, row);
    },

    async storedPlugins() {
      return (await all.orderBy('plugin_id').execute()).map((row) => fromRow(connection, row));
    },
  };
}

/** Writes of the table `plugin_settings`. */
export function pluginSettingsWrites(connection: Connection): Pick<Writer, 'putPlugin' | 'deletePlugin'> {
  const { db } = connection;
  return {
    async putPlugin({ pluginId, settings, isDisabled, declared }) {
      const changing = {
        settings: sealerOf(connection).seal(JSON.stringify(settings), settingsPlace(pluginId)),
        is_disabled: isDisabled ? 1 : 0,
        declared: JSON.stringify(declared),
      };
      await db
        .insertInto('plugin_settings')
        .values({ plugin_id: pluginId, ...changing })
        .onConflict((on) => on.column('plugin_id').doUpdateSet(changing))
        .execute();
    },

    async deletePlugin(id) {
      await db.deleteFrom('plugin_settings').where('plugin_id', '=', id).execute();
    },
  };
}

/** Seals settings anew under the first key, as `resealNotifications` does. */
export async function resealPluginSettings(db: Kysely<Tables>, sealer: Sealer): Promise<void> {
  for (const row of await db.selectFrom('plugin_settings').select(['plugin_id', 'settings']).execute()) {
    if (!sealer.isOutdated(row.settings)) continue;
    const place = settingsPlace(row.plugin_id);
    const settings = sealer.seal(sealer.open(row.settings, place), place);
    await db.updateTable('plugin_settings').set({ settings }).where('plugin_id', '=', row.plugin_id).execute();
  }
}
