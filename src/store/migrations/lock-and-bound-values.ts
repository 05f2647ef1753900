import { type Kysely, sql } from 'kysely';
import type { ColumnTypes } from '../column-types.ts';
import type { Tables } from '../schema.ts';

/** Adds plugins' locks, and how much they keep. */
export async function lockAndBoundValues(db: Kysely<Tables>, { text, integer, table }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('plugin_locks')
    .addColumn('plugin_id', text, (column) => column.notNull())
    .addColumn('name', text, (column) => column.notNull())
    .addColumn('fence', integer, (column) => column.notNull())
    .addColumn('owner', text, (column) => column.notNull())
    .addColumn('expires_at', integer, (column) => column.notNull())
    .addPrimaryKeyConstraint('plugin_locks_pk', ['plugin_id', 'name'])
    .modifyEnd(table)
    .execute();
  await db.schema.createIndex('plugin_locks_expiry').on('plugin_locks').column('expires_at').execute();

  // Plugins that have values get their row when it is first asked for.
  await db.schema
    .createTable('plugin_kv_usage')
    .addColumn('plugin_id', text, (column) => column.primaryKey().notNull())
    .addColumn('keys', integer, (column) => column.notNull())
    .addColumn('bytes', integer, (column) => column.notNull())
    .addColumn('last_fence', integer, (column) => column.notNull())
    .addColumn('counted_at', integer, (column) => column.notNull())
    .modifyEnd(table)
    .execute();
  await db.schema
    .createIndex('plugin_kv_expiry_of_plugin')
    .on('plugin_kv')
    .columns(['plugin_id', 'expires_at'])
    .where(sql.ref('expires_at'), 'is not', null)
    .execute();
}
