import { type Kysely, sql } from 'kysely';
import type { ColumnTypes } from '../column-types.ts';
import type { Tables } from '../schema.ts';

/** Adds notifications and the outbox of their events. */
export async function notify(db: Kysely<Tables>, { text, integer, rising, table }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('notifications')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('created_at', integer, (column) => column.notNull())
    .addColumn('type', text, (column) => column.notNull())
    .addColumn('url', text, (column) => column.notNull())
    .addColumn('signing_key', text)
    .addColumn('declaration', text)
    .modifyEnd(table)
    .execute();

  await db.schema
    .createTable('outbox')
    .addColumn('position', rising, (column) => column.primaryKey())
    .addColumn('id', text, (column) => column.notNull().unique())
    .addColumn('notification_id', text, (column) => column.notNull())
    .addColumn('subject', text, (column) => column.notNull())
    .addColumn('event', text, (column) => column.notNull())
    .addColumn('body', text, (column) => column.notNull())
    .addColumn('created_at', integer, (column) => column.notNull())
    .addColumn('tries', integer, (column) => column.notNull())
    .addColumn('next_try_at', integer, (column) => column.notNull())
    .addColumn('ending', text)
    .addColumn('ended_at', integer)
    .addColumn('outcome', text)
    .modifyEnd(table)
    .execute();
  // What waits is little, whatever has ended before.
  await db.schema
    .createIndex('outbox_due')
    .on('outbox')
    .columns(['notification_id', 'next_try_at'])
    .where(sql.ref('ended_at'), 'is', null)
    .execute();
  await db.schema
    .createIndex('outbox_by_subject')
    .on('outbox')
    .columns(['notification_id', 'subject', 'position'])
    .where(sql.ref('ended_at'), 'is', null)
    .execute();
  await db.schema
    .createIndex('outbox_by_time')
    .on('outbox')
    .column('next_try_at')
    .where(sql.ref('ended_at'), 'is', null)
    .execute();
  await db.schema
    .createIndex('outbox_ended')
    .on('outbox')
    .columns(['ending', 'ended_at'])
    .where(sql.ref('ended_at'), 'is not', null)
    .execute();
}
