import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';
import { storableText } from '../../../domain/record.ts';
import type { Connection } from '../../../store/connection.ts';
import { preparedQuery } from '../../../store/prepared.ts';
import type { Tables } from '../../../store/schema.ts';
import type { StoreReader, StoreWriter } from '../../../store/store.ts';
import { DuplicateRecord, recordOfRow } from '../../../store/tables/stored-record.ts';
import type { Timestamp } from '../../transactions/records/transaction.ts';
import {
  type DeliveryFilter,
  type ListedWebhookDelivery,
  listedEventRecord,
  type WebhookEvent,
  webhookEventRecord,
} from '../records/webhook-event.ts';

/**
 * Longer than any pause between two tries, in milliseconds. A try further away was set before the clock was set back,
 * so it is due.
 */
const BEYOND_ANY_PAUSE_MS = 1_200_000;

/** Reads an event as it is delivered. */
function eventOfRow(row: object): WebhookEvent {
  const { triesBefore, dueSince, ...event } = recordOfRow(webhookEventRecord, row);
  return { ...event, dueSince: dueSince ?? event.createdAt, triesSince: event.tries - triesBefore };
}

/** Reads an event as lists show it. */
function listedOfRow(row: object): ListedWebhookDelivery {
  const { ending, nextTryAt, ...event } = recordOfRow(listedEventRecord, row);
  return { ...event, state: ending ?? 'waiting', nextTryAt: ending === null ? nextTryAt : null };
}

/** Reads of the table `outbox`. */
export function outboxReads(connection: Connection) {
  const { db } = connection;
  // Steps from one notification to the next along the index. Notifications are few, and a backlog of one must not slow
  // this query.
  const notificationsDue = preparedQuery(connection, (now: Timestamp, beyond: Timestamp) =>
    db
      .withRecursive('waiting', (from) =>
        from
          .selectFrom('outbox')
          .select((on) => on.fn.min('notification_id').as('id'))
          .where('ended_at', 'is', null)
          .unionAll(
            from
              .selectFrom('waiting')
              .select((on) =>
                on
                  .selectFrom('outbox')
                  .select((of) => of.fn.min('outbox.notification_id').as('id'))
                  .where('ended_at', 'is', null)
                  .whereRef('outbox.notification_id', '>', 'waiting.id')
                  .$asScalar()
                  .$notNull()
                  .as('id'),
              )
              .where('waiting.id', 'is not', null),
          ),
      )
      .selectFrom('waiting')
      .select('waiting.id')
      .where((on) => {
        const waiting = on
          .selectFrom('outbox')
          .select('outbox.id')
          .whereRef('outbox.notification_id', '=', 'waiting.id')
          .where('ended_at', 'is', null);
        return on.or([
          on.exists(waiting.where('next_try_at', '<=', now)),
          on.exists(waiting.where('next_try_at', '>', beyond)),
        ]);
      }),
  );
  const earliestAfter = preparedQuery(connection, (now: Timestamp) =>
    db
      .selectFrom('outbox')
      .select((on) => on.fn.min('next_try_at').as('earliest'))
      .where('next_try_at', '>', now)
      .where('ended_at', 'is', null),
  );
  return {
    async dueNotifications(now) {
      const rows = await notificationsDue(now, now + BEYOND_ANY_PAUSE_MS);
      return rows.map(({ id }) => id);
    },

    async nextEventAt(now) {
      const [row] = await earliestAfter(now);
      return row?.earliest ?? null;
    },

    async waitingEvents() {
      const { count } = await db
        .selectFrom('outbox')
        .select((on) => on.fn.countAll<number>().as('count'))
        .where('ended_at', 'is', null)
        .executeTakeFirstOrThrow();
      return count;
    },
  } satisfies Partial<StoreReader>;
}

/** Writes of the table `outbox`. */
export function outboxWrites({ db, now }: Connection) {
  const after = (milliseconds: number): RawBuilder<number> => sql<number>`${now()} + ${milliseconds}`;

  return {
    async insertEvent(event) {
      const row = webhookEventRecord.write({ ...event, tries: 0 });
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('outbox')
        .values({ ...row, created_at: now(), due_since: now(), next_try_at: now() })
        .onConflict((on) => on.doNothing())
        .executeTakeFirstOrThrow();
      if (numInsertedOrUpdatedRows === 0n) throw new DuplicateRecord('outbox', event.id);
    },

    async claimEvents(notificationId, limit, forMs) {
      await db
        .updateTable('outbox')
        .set({ next_try_at: now() })
        .where('notification_id', '=', notificationId)
        .where('next_try_at', '>', after(BEYOND_ANY_PAUSE_MS))
        .where('ended_at', 'is', null)
        .execute();
      const due = await db
        .selectFrom('outbox')
        .selectAll()
        .where('notification_id', '=', notificationId)
        .where('next_try_at', '<=', now())
        .where('ended_at', 'is', null)
        .where((on) =>
          on.not(
            on.exists(
              on
                .selectFrom('outbox as earlier')
                .select('earlier.id')
                .whereRef('earlier.notification_id', '=', 'outbox.notification_id')
                .whereRef('earlier.subject', '=', 'outbox.subject')
                .whereRef('earlier.position', '<', 'outbox.position')
                .where('earlier.ended_at', 'is', null),
            ),
          ),
        )
        .orderBy('next_try_at')
        .orderBy('position')
        .limit(limit)
        .execute();
      for (const { id, tries } of due) {
        await db
          .updateTable('outbox')
          .set({ tries: tries + 1, next_try_at: after(forMs) })
          .where('id', '=', id)
          .execute();
      }
      return due.map((row) => eventOfRow({ ...row, tries: row.tries + 1 }));
    },

    async settleEvent({ id, notificationId, subject, tries }, report) {
      const outcome = storableText(report.outcome);
      const nextTryAt = 'end' in report ? now() : after(report.retryInMs);
      const { numUpdatedRows } = await db
        .updateTable('outbox')
        .set('end' in report ? { outcome, ending: report.end, ended_at: now() } : { outcome, next_try_at: nextTryAt })
        .where('id', '=', id)
        .where('tries', '=', tries)
        .where('ended_at', 'is', null)
        .executeTakeFirstOrThrow();
      if (numUpdatedRows === 0n) return false;
      // Otherwise the later events of the subject would be found due and skipped again and again.
      await db
        .updateTable('outbox')
        .set({ next_try_at: nextTryAt })
        .where('notification_id', '=', notificationId)
        .where('subject', '=', subject)
        .where('ended_at', 'is', null)
        .execute();
      return true;
    },

    async resumeEvents(withinMs) {
      await db
        .updateTable('outbox')
        .set({ next_try_at: now() })
        .where('next_try_at', '>', now())
        .where('next_try_at', '<=', after(withinMs))
        .where('ended_at', 'is', null)
        .execute();
    },

    async pruneOutbox(before, limit) {
      let pruned = 0;
      for (const ending of ['delivered', 'dropped', 'dead'] as const) {
        const ended = await db
          .selectFrom('outbox')
          .select('position')
          .where('ending', '=', ending)
          .where('ended_at', '<', ending === 'dead' ? before.dead : before.others)
          .orderBy('ended_at')
          .limit(limit - pruned)
          .execute();
        for (const { position } of ended) {
          await db.deleteFrom('outbox').where('position', '=', position).execute();
        }
        pruned += ended.length;
      }
      return pruned;
    },
  } satisfies Partial<StoreWriter>;
}

/** Most entries that one query passes over. So a filter that few entries pass costs the same as one that all pass. */
const MAX_LOOK = 1_000;

type OfNotification = SelectQueryBuilder<Tables, 'outbox', object>;

/** Reads of the table `outbox` for clients that view deliveries. */
export function deliveryReads({ db }: Connection) {
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
      const rows = await look.select(listedEventRecord.names).orderBy('position', 'desc').limit(limit).execute();
      const isFull = rows.length === limit;
      return {
        items: rows.map(listedOfRow),
        next: (isFull ? rows.at(-1)?.position : last?.position) ?? null,
      };
    },

    async delivery(notificationId, id) {
      const row = await db
        .selectFrom('outbox')
        .select([...listedEventRecord.names, 'body'])
        .where('id', '=', id)
        .where('notification_id', '=', notificationId)
        .executeTakeFirst();
      return row && { ...listedOfRow(row), body: row.body };
    },
  } satisfies Partial<StoreReader>;
}

/** Writes of the table `outbox` for clients that view deliveries. */
export function deliveryWrites({ db, now }: Connection) {
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
  } satisfies Partial<StoreWriter>;
}
