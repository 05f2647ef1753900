import { createSecretKey } from 'node:crypto';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import { jsonObject } from '../../../domain/record.ts';
import type { Notification, SigningKeyField } from '../../../domain/settings/notification.ts';
import { type Connection, sealerOf } from '../../connection.ts';
import { prepared } from '../../prepared.ts';
import type { NotificationTable, Tables } from '../../schema.ts';
import type { SealedPlace, Sealer } from '../../sealing.ts';
import type { Reader, Writer } from '../../store.ts';
import { pageBounds, totalOf } from '../lists/paging.ts';
import { readRecord } from '../stored-record.ts';

const rowSchema = z
  .object({
    id: z.string(),
    type: z.literal('webhook'),
    url: z.string(),
    signing_key: z.string().nullable(),
    second_signing_key: z.string().nullable(),
    declaration: jsonObject.schema.nullable(),
  })
  .transform(
    (row): Notification => ({
      id: row.id,
      type: row.type,
      url: row.url,
      hasSigningKey: row.signing_key !== null,
      hasSecondSigningKey: row.second_signing_key !== null,
      declaration: row.declaration,
    }),
  );

/** The sealed columns of a notification. Anyone who knows a receiver's address can often write to it. */
const SEALED = ['url', 'declaration', 'signing_key', 'second_signing_key'] as const;

const KEYS = ['signing_key', 'second_signing_key'] as const satisfies SigningKeyField[];

function place(id: string, field: (typeof SEALED)[number]): SealedPlace {
  return { table: 'notifications', row: id, field };
}

function fromRow(connection: Connection, row: NotificationTable): Notification {
  const sealer = sealerOf(connection);
  const { id, url, declaration } = row;
  return readRecord(rowSchema, 'notifications', id, {
    ...row,
    url: sealer.open(url, place(id, 'url')),
    declaration: declaration && sealer.open(declaration, place(id, 'declaration')),
  });
}

/** How many notifications are kept opened in memory. */
const MAX_OPENED = 1_000;

/**
 * Returns a function that opens rows. It keeps each opened notification while the sealed texts are unchanged: opening
 * takes longer than reading.
 */
function opener(connection: Connection): (row: NotificationTable) => Notification {
  const opened = new Map<string, { row: NotificationTable; notification: Notification }>();
  return (row) => {
    const known = opened.get(row.id);
    if (known !== undefined && SEALED.every((field) => known.row[field] === row[field])) return known.notification;
    const notification = fromRow(connection, row);
    if (opened.size >= MAX_OPENED) opened.clear();
    opened.set(row.id, { row, notification });
    return notification;
  };
}

type NotificationReads = 'notification' | 'notifications' | 'allNotifications' | 'signingKeys';

/** Reads of the table `notifications`. */
export function notificationReads(connection: Connection): Pick<Reader, NotificationReads> {
  const { db } = connection;
  const read = opener(connection);
  const newestFirst = db.selectFrom('notifications').selectAll().orderBy('created_at', 'desc').orderBy('id', 'desc');
  const byId = prepared(connection, (id: string) => db.selectFrom('notifications').selectAll().where('id', '=', id));
  const pageOf = prepared(connection, (limit: number, offset: number) => newestFirst.limit(limit).offset(offset));
  const count = prepared(connection, () =>
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
      return { items: rows.map(read), total: totalOf(await count()) };
    },

    async allNotifications() {
      return (await newestFirst.execute()).map(read);
    },

    async signingKeys(id) {
      const row = await db.selectFrom('notifications').select(KEYS).where('id', '=', id).executeTakeFirst();
      if (row === undefined || row.signing_key === null) return [];
      return KEYS.flatMap((field) => {
        const sealed = row[field];
        return sealed === null ? [] : createSecretKey(sealerOf(connection).open(sealed, place(id, field)), 'utf8');
      });
    },
  };
}

/** Writes of the table `notifications`. */
export function notificationWrites(
  connection: Connection,
): Pick<Writer, 'putNotification' | 'putSigningKey' | 'deleteNotification'> {
  const { db, now } = connection;
  return {
    async putNotification({ id, type, url, declaration }) {
      const sealer = sealerOf(connection);
      const changing = {
        type,
        url: sealer.seal(url, place(id, 'url')),
        declaration: declaration && sealer.seal(JSON.stringify(declaration), place(id, 'declaration')),
      };
      await db
        .insertInto('notifications')
        .values({ id, created_at: now(), signing_key: null, second_signing_key: null, ...changing })
        .onConflict((on) => on.column('id').doUpdateSet(changing))
        .execute();
    },

    async putSigningKey(id, key, field = 'signing_key') {
      const { numUpdatedRows } = await db
        .updateTable('notifications')
        .set({ [field]: key === null ? null : sealerOf(connection).seal(key, place(id, field)) })
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
  };
}

/**
 * Seals secrets anew under the first key, so that an older key can be retired after one start. Also seals texts that an
 * earlier version stored unsealed.
 */
export async function resealNotifications(db: Kysely<Tables>, sealer: Sealer): Promise<void> {
  for (const row of await db
    .selectFrom('notifications')
    .select(['id', ...SEALED])
    .execute()) {
    for (const field of SEALED) {
      const text = row[field];
      if (text === null || !sealer.isOutdated(text)) continue;
      const secret = sealer.isSealed(text) ? sealer.open(text, place(row.id, field)) : text;
      const change = { [field]: sealer.seal(secret, place(row.id, field)) };
      await db.updateTable('notifications').set(change).where('id', '=', row.id).execute();
    }
  }
}
