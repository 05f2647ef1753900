import type { Connection } from '../../store/connection.ts';
import type { StoreReader, StoreWriter } from '../../store/store.ts';
import { recordOfRow, rowOfRecord } from '../../store/tables/stored-record.ts';
import { triggerRecord } from './records/trigger-state.ts';

/** Reads of the table `triggers`, and of the calls that triggers made. */
export function triggerReads(connection: Connection) {
  const { db } = connection;
  const all = db.selectFrom('triggers').selectAll();
  return {
    async triggers() {
      return (await all.orderBy('plugin_id').orderBy('name').execute()).map((row) => recordOfRow(triggerRecord, row));
    },

    async triggersOf(pluginId) {
      const rows = await all.where('plugin_id', '=', pluginId).orderBy('name').execute();
      return rows.map((row) => recordOfRow(triggerRecord, row));
    },

    async trigger(pluginId, name) {
      const row = await all.where('plugin_id', '=', pluginId).where('name', '=', name).executeTakeFirst();
      return row && recordOfRow(triggerRecord, row);
    },

    async openTriggerCalls() {
      const rows = await db
        .selectFrom('calls')
        .select(['id', 'key_id', 'key', 'state'])
        .where('trigger', 'is not', null)
        .where('ended_at', 'is', null)
        .execute();
      return rows.map(({ id, key_id, key, state }) => ({ id, keyId: key_id, key, isWaiting: state === 'waiting' }));
    },

    async lastTriggerEnds(keyId, since, limit) {
      const rows = await db
        .selectFrom('calls')
        .select('state')
        .where('key_id', '=', keyId)
        .where('trigger', 'is not', null)
        .where('ended_at', 'is not', null)
        .where('created_at', '>=', since)
        .orderBy('ended_at', 'desc')
        .limit(limit)
        .execute();
      return rows.map(({ state }) => state);
    },
  } satisfies Partial<StoreReader>;
}

/** Writes of the table `triggers`, and of the deliveries of webhooks that have called a plugin. */
export function triggerWrites({ db, now, ...connection }: Connection) {
  return {
    async putTrigger(state) {
      const row = rowOfRecord(triggerRecord, state, { db, now, ...connection });
      await db
        .insertInto('triggers')
        .values(row)
        .onConflict((on) => on.columns(['plugin_id', 'name']).doUpdateSet(row))
        .execute();
    },

    async insertTriggerDelivery(keyId, delivery) {
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('trigger_deliveries')
        .values({ key_id: keyId, delivery, at: now() })
        .onConflict((on) => on.doNothing())
        .executeTakeFirstOrThrow();
      return numInsertedOrUpdatedRows === 1n;
    },

    async pruneTriggerDeliveries(before, limit) {
      const old = await db
        .selectFrom('trigger_deliveries')
        .select(['key_id', 'delivery'])
        .where('at', '<', before)
        .orderBy('at')
        .limit(limit)
        .execute();
      for (const { key_id, delivery } of old) {
        await db
          .deleteFrom('trigger_deliveries')
          .where('key_id', '=', key_id)
          .where('delivery', '=', delivery)
          .execute();
      }
      return old.length;
    },
  } satisfies Partial<StoreWriter>;
}
