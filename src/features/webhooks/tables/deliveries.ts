import { type SelectQueryBuilder, sql } from 'kysely';
import { z } from 'zod';
import { timestampColumn } from '../../../domain/record.ts';
import type { Connection } from '../../../store/connection.ts';
import type { Tables } from '../../../store/schema.ts';
import type { StoreReader, StoreWriter } from '../../../store/store.ts';
import { parseRow } from '../../../store/tables/stored-record.ts';
import type { DeliveryFilter, ListedWebhookDelivery } from '../records/webhook-event.ts';
import { webhookEndSchema, webhookEventNameSchema } from '../records/webhook-event.ts';

/** Most entries that one query passes over. So a filter that few entries pass costs the same as one that all pass. */
const MAX_LOOK = 1_000;

const SHOWN = [
  'position',
  'id',
  'notification_id',
  'subject',
  'relayer_id',
  'event',
  'created_at',
  'tries',
  'next_try_at',
  'ending',
  'ended_at',
  'outcome',
] as const;

const rowSchema = z
  .object({
    position: z.int(),
    id: z.string(),
    notification_id: z.string(),
    subject: z.string(),
    relayer_id: z.string().nullable(),
    event: webhookEventNameSchema,
    created_at: timestampColumn.schema,
    tries: z.int().nonnegative(),
    next_try_at: timestampColumn.schema,
    ending: webhookEndSchema.nullable(),
    ended_at: timestampColumn.schema.nullable(),
    outcome: z.string().nullable(),
  })
  .transform(
    (row): ListedWebhookDelivery => ({
      position: row.position,
      id: row.id,
      notificationId: row.notification_id,
      subject: row.subject,
      relayerId: row.relayer_id,
      event: row.event,
      createdAt: row.created_at,
      tries: row.tries,
      state: row.ending ?? 'waiting',
      nextTryAt: row.ending === null ? row.next_try_at : null,
      endedAt: row.ended_at,
      outcome: row.outcome,
    }),
  );

type OfNotification = SelectQueryBuilder<Tables, 'outbox', object>;

/** Reads of the table `outbox` for clients that view deliveries. */
export function deliveryReads({ db }: Connection): Pick<StoreReader, 'deliveries' | 'delivery'> {
  /** The part of the filter that an index finds: few entries are dead or waiting. */
  function indexed(notificationId: string, state: DeliveryFilter['state']): OfNotification {
    const all = db.selectFrom('outbox').where('notification_id', '=', notificationId);
    if (state === 'dead') return all.where('ending', '=', sql.lit('dead'));
    return state === 'waiting' ? all.where('ended_at', 'is', null) : all;
  }

  return {
    async deliveries(notificationId, { before, limit }, { state, subject, relayerIds }) {
      if (limit === 0 || relayerIds?.length === 0) return { items: [], next: null };
      const ofState = indexed(notificationId, state);
      const all = subject === undefined ? ofState : ofState.where('subject', '=', subject);
      const rest = before === null ? all : all.where('position', '<', before);
      const last = await rest
        .select('position')
        .orderBy('position', 'desc')
        .offset(MAX_LOOK - 1)
        .limit(1)
        .executeTakeFirst();
      let look = last === undefined ? rest : rest.where('position', '>=', last.position);
      if (state !== undefined && state !== 'waiting') look = look.where('ending', '=', state);
      if (relayerIds !== undefined) look = look.where('relayer_id', 'in', relayerIds);
      const rows = await look.select(SHOWN).orderBy('position', 'desc').limit(limit).execute();
      const isFull = rows.length === limit;
      return {
        items: rows.map((row) => parseRow(rowSchema, 'outbox', row.id, row)),
        next: (isFull ? rows.at(-1)?.position : last?.position) ?? null,
      };
    },

    async delivery(notificationId, id) {
      const row = await db
        .selectFrom('outbox')
        .select([...SHOWN, 'body'])
        .where('id', '=', id)
        .where('notification_id', '=', notificationId)
        .executeTakeFirst();
      return row && { ...parseRow(rowSchema, 'outbox', id, row), body: row.body };
    },
  };
}

/** Writes of the table `outbox` for clients that view deliveries. */
export function deliveryWrites({ db, now }: Connection): Pick<StoreWriter, 'redeliver'> {
  return {
    async redeliver(notificationId, id) {
      await db
        .updateTable('outbox')
        .set((on) => ({
          ending: null,
          ended_at: null,
          next_try_at: now(),
          due_since: now(),
          tries_before: on.ref('tries'),
        }))
        .where('id', '=', id)
        .where('notification_id', '=', notificationId)
        .execute();
    },
  };
}
