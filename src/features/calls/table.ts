import { type RawBuilder, sql } from 'kysely';
import type { IdempotencyClaim } from '../../domain/idempotency.ts';
import { type Connection, sealerOf } from '../../store/connection.ts';
import { preparedQuery } from '../../store/prepared.ts';
import type { StoreReader, StoreWriter } from '../../store/store.ts';
import { insertKey, OWNED_BY_CALL, putJournalPage } from '../../store/tables/idempotency.ts';
import { countOf, pageBounds } from '../../store/tables/lists.ts';
import { recordOfRow, rowOfRecord, sealedPlaceOf } from '../../store/tables/stored-record.ts';
import type { Timestamp } from '../transactions/records/transaction.ts';
import {
  bundleRecord,
  type CallEnd,
  type CallEnding,
  type CallRecord,
  callEventRecord,
  callRecord,
  MAX_EVENTS,
} from './record.ts';

const OPEN = ['running', 'waiting'] as const;
/** How many due calls one search finds. */
const MAX_DUE = 100;

/** Reads of the tables of calls. */
export function callReads(connection: Connection) {
  const { db } = connection;
  const dueAt = (now: Timestamp) =>
    db.selectFrom('calls').select(['id', 'plugin_id']).where('next_at', '<=', now).orderBy('next_at').limit(MAX_DUE);
  const due = preparedQuery(connection, dueAt);
  const earliestAfter = preparedQuery(connection, (now: Timestamp) =>
    db
      .selectFrom('calls')
      .select((on) => on.fn.min('next_at').as('earliest'))
      .where('next_at', '>', now),
  );
  const recordOf = (row: object): CallRecord => recordOfRow(callRecord, row, connection);

  return {
    async call(id) {
      const row = await db.selectFrom('calls').selectAll().where('id', '=', id).executeTakeFirst();
      return row && recordOf(row);
    },

    async callOfKey(keyId, key) {
      const row = await db
        .selectFrom('idempotency_keys')
        .innerJoin('calls', 'calls.id', 'idempotency_keys.id')
        .selectAll('calls')
        .where('idempotency_keys.scope', '=', keyId)
        .where('idempotency_keys.key', '=', key)
        .executeTakeFirst();
      return row && recordOf(row);
    },

    async calls(pluginId, page, { state }) {
      const { limit, offset } = pageBounds(page);
      const all = db.selectFrom('calls').where('plugin_id', '=', pluginId);
      const some = state === undefined ? all : all.where('state', '=', state);
      const rows = await some
        .selectAll()
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .limit(limit)
        .offset(offset)
        .execute();
      const total = countOf(await some.select((on) => on.fn.countAll<number>().as('total')).execute());
      return { items: rows.map(recordOf), total };
    },

    async dueCalls(now, except) {
      const rows = await (except.length === 0 ? due(now) : dueAt(now).where('plugin_id', 'not in', except).execute());
      return rows.map(({ id, plugin_id }) => ({ id, pluginId: plugin_id }));
    },

    async nextCallAt(now) {
      const [row] = await earliestAfter(now);
      return row?.earliest ?? null;
    },

    async openCalls() {
      const rows = await db
        .selectFrom('calls')
        .select((on) => ['state', on.fn.countAll<number>().as('count')])
        .where('ended_at', 'is', null)
        .groupBy('state')
        .execute();
      return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
    },

    async callEvents(callId) {
      const rows = await db
        .selectFrom('call_events')
        .selectAll()
        .where('call_id', '=', callId)
        .orderBy('number')
        .execute();
      return rows.map((row) => {
        const { name, value } = recordOfRow(callEventRecord, row, connection);
        return { name, value };
      });
    },

    async bundle(version) {
      const row = await db.selectFrom('plugin_bundles').selectAll().where('version', '=', version).executeTakeFirst();
      return row && recordOfRow(bundleRecord, row, connection).content;
    },
  } satisfies Partial<StoreReader>;
}

/** Writes of the same tables. A run writes under the token of its claim: a run that was taken over writes nothing. */
export function callWrites(connection: Connection) {
  const { db, now } = connection;
  const after = (ms: number): RawBuilder<number> => sql<number>`${now()} + ${sql.lit(Math.ceil(ms))}`;
  const ended = (state: CallEnd) => ({ state, ended_at: now(), next_at: null, waits_for: '[]' });
  const sealedEnding = (id: string, ending: CallEnding | null) =>
    ending === null
      ? null
      : sealerOf(connection).seal(JSON.stringify(ending), sealedPlaceOf(callRecord, { id }, 'ending'));

  const running = ({ id, token }: IdempotencyClaim) =>
    db.updateTable('calls').where('id', '=', id).where('token', '=', token).where('state', '=', 'running');

  /** Ends the claim of the effects as well: no run has an effect under it any more. */
  async function fence(id: string, token: number, state: 'running' | 'answered'): Promise<void> {
    await db.updateTable('idempotency_keys').set({ token, state }).where('id', '=', id).execute();
  }

  /** Has a waiting call looked at now. */
  async function wake(id: string): Promise<void> {
    await db.updateTable('calls').set({ next_at: now() }).where('id', '=', id).where('state', '=', 'waiting').execute();
  }

  return {
    async insertCall({ lifetimeMs, ...call }) {
      const { id, keyId, key, fingerprint } = call;
      const taken = await db
        .selectFrom('idempotency_keys')
        .select('id')
        .where('scope', '=', keyId)
        .where('key', '=', key)
        .executeTakeFirst();
      if (taken !== undefined) return false;
      const owner = OWNED_BY_CALL;
      await insertKey(connection, { id, scope: keyId, key, fingerprint, owner, token: 0, expires_at: 0 });
      const blank = { tries: 0, deaths: 0, token: 0, waitsFor: [], endedAt: null, ending: null };
      const row = rowOfRecord(
        callRecord,
        { ...call, ...blank, state: 'running', createdAt: 0, expiresAt: 0, nextAt: 0 },
        connection,
      );
      const times = { created_at: now(), next_at: now(), expires_at: after(lifetimeMs) };
      await db
        .insertInto('calls')
        .values({ ...row, ...times })
        .execute();
      return true;
    },

    async claimCall(id, { forMs, version }) {
      const row = await db
        .updateTable('calls')
        .set((on) => ({
          state: 'running',
          waits_for: '[]',
          token: on('token', '+', 1),
          tries: on('tries', '+', 1),
          next_at: after(forMs),
          version: on.fn.coalesce('version', sql<string>`${version}`),
        }))
        .where('id', '=', id)
        .where('next_at', '<=', now())
        .where('state', 'in', OPEN)
        .returningAll()
        .executeTakeFirst();
      if (row === undefined) return undefined;
      await fence(id, row.token, 'running');
      return recordOfRow(callRecord, row, connection);
    },

    async renewCalls(claims, forMs) {
      const held: string[] = [];
      for (const claim of claims) {
        const row = await running(claim)
          .set({ next_at: after(forMs) })
          .returning('id')
          .executeTakeFirst();
        if (row !== undefined) held.push(row.id);
      }
      return held;
    },

    async resumeCalls() {
      await db
        .updateTable('calls')
        .set({ next_at: now() })
        .where('next_at', '>', now())
        .where('state', '=', 'running')
        .execute();
    },

    async suspendCall(claim, { waitsFor, inMs, events, deaths, entry }) {
      const sent = await db
        .selectFrom('call_events')
        .select((on) => on.fn.countAll<number>().as('total'))
        .where('call_id', '=', claim.id)
        .execute();
      // An event that came during the run, and that the run has not heard of, wakes it at once.
      const next = countOf(sent) > events ? now() : after(inMs);
      const row = await running(claim)
        .set({ state: 'waiting', waits_for: JSON.stringify(waitsFor), next_at: next, deaths })
        .returning('id')
        .executeTakeFirst();
      if (row === undefined) return false;
      if (entry !== undefined) await putJournalPage(connection, claim.id, entry);
      return true;
    },

    async endCall(claim, { state, ending, deaths, entry }) {
      const row = await running(claim)
        .set({ ...ended(state), ending: sealedEnding(claim.id, ending), deaths })
        .returning('id')
        .executeTakeFirst();
      if (row === undefined) return false;
      if (entry !== undefined) await putJournalPage(connection, claim.id, entry);
      await fence(claim.id, claim.token, 'answered');
      return true;
    },

    async stopCall(id, state, ending) {
      const row = await db
        .updateTable('calls')
        .set((on) => ({ ...ended(state), token: on('token', '+', 1), ending: sealedEnding(id, ending) }))
        .where('id', '=', id)
        .where('state', 'in', OPEN)
        .returning('token')
        .executeTakeFirst();
      if (row !== undefined) await fence(id, row.token, 'answered');
      return row !== undefined;
    },

    async retryCall(id, { lifetimeMs, keepUpTo, forget }) {
      const row = await db
        .updateTable('calls')
        .set((on) => ({
          state: 'running',
          token: on('token', '+', 1),
          deaths: 0,
          next_at: now(),
          expires_at: after(lifetimeMs),
          ended_at: null,
          ending: null,
        }))
        .where('id', '=', id)
        .where('state', 'in', ['threw', 'canceled', 'expired'])
        .returning('token')
        .executeTakeFirst();
      if (row === undefined) return false;
      await fence(id, row.token, 'running');
      await db.deleteFrom('call_journal').where('claim_id', '=', id).execute();
      if (keepUpTo !== undefined) await putJournalPage(connection, id, { position: 0, page: keepUpTo });
      for (const { payloadHash, occurrence } of forget) {
        await db
          .deleteFrom('effects')
          .where('claim_id', '=', id)
          .where('payload_hash', '=', payloadHash)
          .where('occurrence', '=', occurrence)
          .where('failure', 'is not', null)
          .execute();
      }
      return true;
    },

    async insertCallEvent(callId, { name, value }) {
      // A write of the call's row, so that a run that begins to wait at the same time collides with it and looks again.
      const call = await db
        .updateTable('calls')
        .set({ next_at: sql<number>`case when state = 'waiting' then ${now()} else next_at end` })
        .where('id', '=', callId)
        .where('state', 'in', OPEN)
        .returning('state')
        .executeTakeFirst();
      if (call === undefined) return 'ended';
      const sent = countOf(
        await db
          .selectFrom('call_events')
          .select((on) => on.fn.countAll<number>().as('total'))
          .where('call_id', '=', callId)
          .execute(),
      );
      if (sent >= MAX_EVENTS) return 'full';
      const row = rowOfRecord(callEventRecord, { callId, number: sent, name, value, at: 0 }, connection);
      await db
        .insertInto('call_events')
        .values({ ...row, at: now() })
        .execute();
      return 'stored';
    },

    wakeCall: wake,

    async postponeCall(id, inMs, waitsFor) {
      await db
        .updateTable('calls')
        .set({
          next_at: after(inMs),
          ...(waitsFor !== undefined && { state: 'waiting' as const, waits_for: JSON.stringify(waitsFor) }),
        })
        .where('id', '=', id)
        .where('next_at', '<=', now())
        .where('state', 'in', OPEN)
        .execute();
    },

    async pruneCalls(before, limit) {
      const old = await db
        .selectFrom('calls')
        .select('id')
        .where('ended_at', '<', before)
        .orderBy('ended_at')
        .limit(limit)
        .execute();
      if (old.length === 0) return 0;
      const ids = old.map(({ id }) => id);
      await db.deleteFrom('call_events').where('call_id', 'in', ids).execute();
      await db.deleteFrom('calls').where('id', 'in', ids).execute();
      return ids.length;
    },

    async putBundle(version, pluginId, content) {
      const row = rowOfRecord(bundleRecord, { id: version, pluginId, content, usedAt: 0 }, connection);
      await db
        .insertInto('plugin_bundles')
        .values({ ...row, used_at: now() })
        .onConflict((on) => on.column('version').doUpdateSet({ used_at: now() }))
        .execute();
    },

    async pruneBundles(before, limit) {
      const old = await db
        .selectFrom('plugin_bundles')
        .select('version')
        .where('used_at', '<', before)
        .where((on) =>
          on.not(
            on.exists(
              on.selectFrom('calls').select('calls.id').whereRef('calls.version', '=', 'plugin_bundles.version'),
            ),
          ),
        )
        .limit(limit)
        .execute();
      if (old.length === 0) return 0;
      const versions = old.map(({ version }) => version);
      await db.deleteFrom('plugin_bundles').where('version', 'in', versions).execute();
      return versions.length;
    },
  } satisfies Partial<StoreWriter>;
}
