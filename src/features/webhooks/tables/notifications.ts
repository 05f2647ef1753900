import { createSecretKey } from 'node:crypto';
import type { Selectable } from 'kysely';
import { type Connection, sealerOf } from '../../../store/connection.ts';
import { preparedQuery, rememberedRead } from '../../../store/prepared.ts';
import type { Tables } from '../../../store/schema.ts';
import { DAMAGED_URL } from '../../../store/sealing.ts';
import type { StoreReader, StoreWriter } from '../../../store/store.ts';
import { countOf, pageBounds } from '../../../store/tables/lists.ts';
import { recordOfRow, rowOfRecord, sealedPlaceOf } from '../../../store/tables/stored-record.ts';
import { type Notification, notificationRecord, type SigningKeyField } from '../records/notification.ts';

const { sealed: SEALED } = notificationRecord;
const KEYS = ['signing_key', 'second_signing_key'] as const satisfies SigningKeyField[];

type NotificationRow = Selectable<Tables['notifications']>;

/** A declared notification has the address of the file again after the next start. */
const DAMAGED = { url: DAMAGED_URL, declaration: '{}' };

function fromRow(connection: Connection, row: NotificationRow): Notification {
  const { signing_key: first, second_signing_key: second, ...shown } = row;
  const fields = recordOfRow(notificationRecord, shown, connection, DAMAGED);
  return { ...fields, hasSigningKey: first !== null, hasSecondSigningKey: second !== null };
}

/** How many notifications are kept opened in memory. */
const MAX_OPENED = 1_000;

/**
 * Returns a function that opens rows. It keeps each opened notification while the sealed texts are unchanged: opening
 * takes longer than reading.
 */
function opener(connection: Connection): (row: NotificationRow) => Notification {
  const opened = new Map<string, { row: NotificationRow; notification: Notification }>();
  return (row) => {
    const known = opened.get(row.id);
    if (
      known !== undefined &&
      SEALED.every((field) => known.row[field as keyof typeof row] === row[field as keyof typeof row])
    )
      return known.notification;
    const notification = fromRow(connection, row);
    if (opened.size >= MAX_OPENED) opened.clear();
    opened.set(row.id, { row, notification });
    return notification;
  };
}

/** Reads of the table `notifications`. */
export function notificationReads(connection: Connection) {
  const { db } = connection;
  const read = opener(connection);
  const newestFirst = db.selectFrom('notifications').selectAll().orderBy('created_at', 'desc').orderBy('id', 'desc');
  const byId = rememberedRead(
    connection,
    preparedQuery(connection, (id: string) => db.selectFrom('notifications').selectAll().where('id', '=', id)),
    (rows) => rows.length,
  );
  const pageOf = preparedQuery(connection, (limit: number, offset: number) => newestFirst.limit(limit).offset(offset));
  const count = preparedQuery(connection, () =>
    db.selectFrom('notifications').select((on) => on.fn.countAll<number>().as('total')),
  );
  return {
    async notification(id) {
      const [row] = await byId(id);
      return row && read(row);
    },

    async notifications(page) {
      const { limit, offset } = pageBounds(page);
      const rows = await pageOf(limit, offset);
      return { items: rows.map(read), total: countOf(await count()) };
    },

    async allNotifications() {
      return (await newestFirst.execute()).map(read);
    },

    async signingKeys(id) {
      const row = await db.selectFrom('notifications').select(KEYS).where('id', '=', id).executeTakeFirst();
      if (row === undefined || row.signing_key === null) return [];
      return KEYS.flatMap((field) => {
        const sealed = row[field];
        return sealed === null
          ? []
          : createSecretKey(
              sealerOf(connection).open(sealed, sealedPlaceOf(notificationRecord, { id }, field)),
              'utf8',
            );
      });
    },
  } satisfies Partial<StoreReader>;
}

/** Writes of the table `notifications`. */
export function notificationWrites(connection: Connection) {
  const { db, now } = connection;
  return {
    async putNotification(notification) {
      const row = rowOfRecord(notificationRecord, notification, connection);
      await db
        .insertInto('notifications')
        .values({ ...row, created_at: now(), signing_key: null, second_signing_key: null })
        .onConflict((on) => on.column('id').doUpdateSet(row))
        .execute();
    },

    async putSigningKey(id, key, field = 'signing_key') {
      const { numUpdatedRows } = await db
        .updateTable('notifications')
        .set({
          [field]:
            key === null ? null : sealerOf(connection).seal(key, sealedPlaceOf(notificationRecord, { id }, field)),
        })
        .where('id', '=', id)
        .executeTakeFirstOrThrow();
      if (numUpdatedRows === 0n) throw new Error(`There is no notification ${id}`);
    },

    async deleteNotification(id) {
      const { numDeletedRows } = await db.deleteFrom('notifications').where('id', '=', id).executeTakeFirstOrThrow();
      await db
        .updateTable('outbox')
        .set({ ending: 'dropped', ended_at: now(), outcome: 'the notification was deleted' })
        .where('notification_id', '=', id)
        .where('ended_at', 'is', null)
        .execute();
      return numDeletedRows === 1n;
    },
  } satisfies Partial<StoreWriter>;
}
