import type { RawBuilder } from 'kysely';
import { sql } from 'kysely';
import { largestAmount } from '../../../domain/amount.ts';
import { amountColumn } from '../../../domain/record.ts';
import type { Connection } from '../../../store/connection.ts';
import { preparedListQuery } from '../../../store/prepared.ts';
import type { StoreReader, StoreWriter } from '../../../store/store.ts';
import { DuplicateRecord, recordOfRow } from '../../../store/tables/stored-record.ts';
import {
  type BudgetShortage,
  budgetRecord,
  findBudgetShortage,
  HOUR_MS,
  type SpendingReservation,
  spendingRecord,
} from '../records/spending.ts';

/**
 * How many settled rows one reservation adds to the totals. More than it creates, so that no rows pile up in the long
 * run.
 */
const FOLDED_BY_THE_WAY = 50;
/** How many settled rows are searched for the moment at which an amount becomes free. */
const LOOKED_THROUGH = 1000;

interface Totals {
  value: bigint;
  fee: bigint;
  feeLimit: bigint | null;
}

/** Reads of the tables `spending` and `budgets`. */
export function spendingReads(connection: Connection) {
  const { db, now } = connection;
  return {
    budgeted: budgetedOf(connection),

    async spentLastHour(pluginId, relayerId) {
      const rows = await db
        .selectFrom('budgets')
        .leftJoin('spending', (on) =>
          on
            .onRef('spending.plugin_id', '=', 'budgets.plugin_id')
            .onRef('spending.relayer_id', '=', 'budgets.relayer_id')
            .on('spending.settled_at', 'is not', null)
            .on((of) => of.or([of('spending.settled_at', '<', anHourAgo(now)), of('spent_value', 'is not', null)])),
        )
        .select(['budgets.value as total_value', 'budgets.fee as total_fee'])
        .selectAll('spending')
        .select((on) => on('spending.settled_at', '<', anHourAgo(now)).as('is_over'))
        .where('budgets.plugin_id', '=', pluginId)
        .where('budgets.relayer_id', '=', relayerId)
        .execute();
      const [first] = rows;
      if (first === undefined) return { value: 0n, fee: 0n };
      const sum = {
        value: amountColumn.schema.parse(first.total_value),
        fee: amountColumn.schema.parse(first.total_fee),
      };
      for (const { is_over, ...row } of rows) {
        if (row.transaction_id === null) continue;
        const { value, fee, spentValue, spentFee } = recordOfRow(spendingRecord, row);
        sum.value += (is_over ? 0n : (spentValue ?? value)) - value;
        sum.fee += (is_over ? 0n : (spentFee ?? fee)) - fee;
      }
      return sum;
    },

    async freeFrom({ pluginId, relayerId }, part, needed) {
      const rows = await db
        .selectFrom('spending')
        .selectAll()
        .where('plugin_id', '=', pluginId)
        .where('relayer_id', '=', relayerId)
        .where('settled_at', 'is not', null)
        .orderBy('settled_at')
        .limit(LOOKED_THROUGH)
        .execute();
      let freed = 0n;
      for (const stored of rows) {
        const { value, fee, spentValue, spentFee, settledAt } = recordOfRow(spendingRecord, stored);
        freed += part === 'value' ? (spentValue ?? value) : (spentFee ?? fee);
        if (freed >= needed && settledAt !== null) return settledAt + HOUR_MS + 1;
      }
      return null;
    },
  } satisfies Partial<StoreReader>;
}

/**
 * Writes of the same tables. A write that changes a total locks its row: instances on PostgreSQL collide there and run
 * again.
 */
export function spendingWrites(connection: Connection) {
  const { db, now } = connection;
  const budgeted = budgetedOf(connection);

  /**
   * Brings a budget's totals up to date. A settled transaction counts for what it took, until an hour after its end.
   */
  async function fold(pluginId: string, relayerId: string, totals: Totals, limit: number): Promise<number> {
    const settled = db
      .selectFrom('spending')
      .selectAll()
      .where('plugin_id', '=', pluginId)
      .where('relayer_id', '=', relayerId)
      .limit(limit);
    const over = await settled.where('settled_at', '<', anHourAgo(now)).orderBy('settled_at').execute();
    const news = await settled
      .where('spent_value', 'is not', null)
      .where('settled_at', '>=', anHourAgo(now))
      .orderBy('transaction_id')
      .execute();
    for (const stored of over) {
      const { value, fee } = recordOfRow(spendingRecord, stored);
      totals.value -= value;
      totals.fee -= fee;
    }
    for (const stored of news) {
      const row = recordOfRow(spendingRecord, stored);
      const [value, fee] = [row.spentValue ?? row.value, row.spentFee ?? row.fee];
      totals.value += value - row.value;
      totals.fee += fee - row.fee;
      await db
        .updateTable('spending')
        .set(spendingRecord.write({ value, fee, spentValue: null, spentFee: null }))
        .where('transaction_id', '=', row.transactionId)
        .execute();
    }
    const ids = over.map(({ transaction_id }) => transaction_id);
    if (ids.length > 0) await db.deleteFrom('spending').where('transaction_id', 'in', ids).execute();
    return over.length + news.length;
  }

  /** Locks the row of a budget, so that no other writer changes it before the commit. */
  async function take(pluginId: string, relayerId: string, feeLimit?: bigint | null): Promise<Totals | undefined> {
    const row = await db
      .updateTable('budgets')
      .set((on) => ({ fee_limit: feeLimit === undefined ? on.ref('fee_limit') : (feeLimit?.toString() ?? null) }))
      .where('plugin_id', '=', pluginId)
      .where('relayer_id', '=', relayerId)
      .returningAll()
      .executeTakeFirst();
    return row && recordOfRow(budgetRecord, row);
  }

  async function put(pluginId: string, relayerId: string, { value, fee }: Totals): Promise<void> {
    await db
      .updateTable('budgets')
      .set(budgetRecord.write({ value, fee }))
      .where('plugin_id', '=', pluginId)
      .where('relayer_id', '=', relayerId)
      .execute();
  }

  async function open({ pluginId, relayerId, feeLimit }: SpendingReservation): Promise<Totals> {
    const { numInsertedOrUpdatedRows } = await db
      .insertInto('budgets')
      .values(budgetRecord.write({ pluginId, relayerId, feeLimit, value: 0n, fee: 0n }))
      // If two instances insert at once, PostgreSQL makes one of them collide with the other and run again.
      .onConflict((on) => on.doNothing())
      .executeTakeFirstOrThrow();
    if (numInsertedOrUpdatedRows === 0n) throw new DuplicateRecord('budgets', `${pluginId}/${relayerId}`);
    return { value: 0n, fee: 0n, feeLimit };
  }

  return {
    async reserveSpending(reservation) {
      const { transactionId, pluginId, relayerId, value, fee, valueLimit, feeLimit } = reservation;
      const totals = (await take(pluginId, relayerId, feeLimit)) ?? (await open(reservation));
      await fold(pluginId, relayerId, totals, FOLDED_BY_THE_WAY);
      const shortage =
        findBudgetShortage('value_per_hour', valueLimit, totals.value, value) ??
        findBudgetShortage('fee_per_hour', feeLimit, totals.fee, fee);
      if (shortage === undefined) {
        const counted = { value, fee: fee ?? 0n };
        await db
          .insertInto('spending')
          .values(spendingRecord.write({ transactionId, pluginId, relayerId, ...counted }))
          .execute();
        totals.value += counted.value;
        totals.fee += counted.fee;
      }
      await put(pluginId, relayerId, totals);
      return shortage;
    },

    async raiseSpending({ transactionId, value, fee, mayExceed }) {
      const stored = await db
        .selectFrom('spending')
        .selectAll()
        .where('transaction_id', '=', transactionId)
        .executeTakeFirst();
      if (stored === undefined) return undefined;
      const row = recordOfRow(spendingRecord, stored);
      const raised = { value: largestAmount(row.value, value), fee: largestAmount(row.fee, fee) };
      if (raised.value === row.value && raised.fee === row.fee) return undefined;
      const { pluginId, relayerId } = row;
      const totals = await take(pluginId, relayerId);
      if (totals === undefined) throw new Error(`There is no budget ${pluginId}/${relayerId}`);
      await fold(pluginId, relayerId, totals, FOLDED_BY_THE_WAY);
      const more = raised.fee - row.fee;
      const shortage: BudgetShortage | undefined = mayExceed
        ? undefined
        : findBudgetShortage('fee_per_hour', totals.feeLimit, totals.fee, more);
      if (shortage === undefined) {
        await db
          .updateTable('spending')
          .set(spendingRecord.write(raised))
          .where('transaction_id', '=', transactionId)
          .execute();
        totals.value += raised.value - row.value;
        totals.fee += more;
      }
      await put(pluginId, relayerId, totals);
      return shortage && { ...shortage, pluginId };
    },

    async settleSpending(ended) {
      const known = await budgeted(ended.map(({ transactionId }) => transactionId));
      // The next reservation updates the totals, so that the ends of transactions never collide with new ones.
      for (const { transactionId, value, fee } of ended.filter((one) => known.has(one.transactionId))) {
        await db
          .updateTable('spending')
          .set({ ...spendingRecord.write({ spentValue: value, spentFee: fee }), settled_at: now() })
          .where('transaction_id', '=', transactionId)
          .where('settled_at', 'is', null)
          .execute();
      }
    },

    async foldSpending(pluginId, relayerId, limit) {
      const totals = await take(pluginId, relayerId);
      if (totals === undefined) return 0;
      const folded = await fold(pluginId, relayerId, totals, limit);
      await put(pluginId, relayerId, totals);
      return folded;
    },
  } satisfies Partial<StoreWriter>;
}

/** Finds those of the transactions that a plugin's budget pays for. */
function budgetedOf({ db, run }: Pick<Connection, 'db' | 'run'>): (ids: readonly string[]) => Promise<Set<string>> {
  const known = preparedListQuery({ run }, (ids) =>
    db.selectFrom('spending').select('transaction_id').where('transaction_id', 'in', ids),
  );
  return async (ids) => new Set((await known(ids)).map(({ transaction_id }) => transaction_id));
}

/** The moment an hour ago. A transaction that settled exactly then still counts. */
function anHourAgo(now: Connection['now']): RawBuilder<number> {
  return sql<number>`${now()} - ${sql.lit(HOUR_MS)}`;
}
