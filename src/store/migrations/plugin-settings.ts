import { type Kysely, sql } from 'kysely';
import type { ColumnTypes } from '../column-types.ts';
import type { Tables } from '../schema.ts';

/** What clients made of plugins. */
export async function pluginSettings(db: Kysely<Tables>, { text, integer, table }: ColumnTypes): Promise<void> {
  await sql`create table plugin_settings (
    plugin_id ${text} not null primary key, settings ${text} not null, is_disabled ${integer} not null,
    declared ${text} not null
  ) ${table}`.execute(db);
}
