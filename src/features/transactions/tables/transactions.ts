import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import { networkTypeSchema } from '../../../domain/network-type.ts';
import { accountSequenceColumn as sequenceColumn } from '../../../domain/record.ts';
import type { Connection } from '../../../store/connection.ts';
import { preparedQuery, preparedWrite, rememberedRead } from '../../../store/prepared.ts';
import type { Tables } from '../../../store/schema.ts';
import type { StoreReader, StoreWriter } from '../../../store/store.ts';
import { countOf } from '../../../store/tables/lists.ts';
import { DuplicateRecord, newRevision, RecordCache, recordOfRow } from '../../../store/tables/stored-record.ts';
import type { AnchorKind } from '../records/anchor.ts';
import { BEYOND_ANY_PAUSE_MS } from '../records/lane.ts';
import {
  originColumn,
  type Timestamp,
  type Transaction,
  type TransactionChange,
  transactionRecord,
} from '../records/transaction.ts';
import {
  canBecome,
  FINAL_STATUSES,
  isFinal,
  type TransactionStatus,
  transactionStatusSchema,
} from '../records/transaction-state.ts';
import { attemptReads } from './attempts.ts';
import { isTransactionEvent, transactionEventNote } from './transaction-events.ts';
import { isNotCanceled, transactionList } from './transaction-list.ts';

/** The statuses of transactions that are not final. An index on status finds these, however many others are final. */
const OPEN_STATUSES = transactionStatusSchema.options.filter((status) => !FINAL_STATUSES.includes(status));
const SIGNED_STATUSES = OPEN_STATUSES.filter((status) => status !== 'pending');
const PENDING_STATUSES: readonly TransactionStatus[] = ['pending', 'sent', 'submitted'];

/**
 * Later than this, an action is due by `isDueAt`: it was set before the clock was set back. Queries ask for such actions
 * apart from those up to now, because an index does not help with one condition for both.
 */
const beyondAnyPause = (now: Timestamp) => sql<Timestamp>`cast(${now} as bigint) + ${BEYOND_ANY_PAUSE_MS}`;

/**
 * Reads a row into a transaction.
 * @throws UnreadableRecord
 */
export function transactionOfRow(row: Selectable<Tables['transactions']>): Transaction {
  return recordOfRow(transactionRecord, row);
}

type TransactionRow = Insertable<Tables['transactions']>;

type ChangedColumns = Updateable<Tables['transactions']> & { revision: number };

/** Makes the row of a transaction. The database assigns its place in the order of acceptance. */
export function transactionRow(transaction: Transaction): TransactionRow {
  return { ...transactionRecord.write(transaction), revision: newRevision() };
}

/**
 * Makes the columns of a change. Becoming final clears the next action, since a final transaction is never looked at
 * again.
 */
export function changedColumns(change: TransactionChange): ChangedColumns {
  const columns: ChangedColumns = { revision: newRevision(), ...transactionRecord.writeChange(change) };
  if (change.status !== undefined && isFinal(change.status)) columns.next_action_at = null;
  return columns;
}

/** How many lanes one search looks at. */
const LANES_PER_SEARCH = 256;

/** Reads of the table `transactions`. */
export function transactionReads(connection: Connection) {
  const { db } = connection;
  const ofRelayer = (relayerId: string, id: string) =>
    db
      .selectFrom('transactions')
      .where('id', '=', id)
      .where('relayer_id', '=', (on) => on.selectFrom('relayers').select('relayers.id').where('id', '=', relayerId));
  const byId = preparedQuery(connection, (relayerId: string, id: string) => ofRelayer(relayerId, id).selectAll());
  const pendingTotal = rememberedRead(
    connection,
    preparedQuery(connection, (relayerId: string) =>
      db
        .selectFrom('transaction_counts')
        .select(sql<number>`cast(coalesce(sum(count), 0) as bigint)`.as('total'))
        .where('relayer_id', '=', relayerId)
        .where('status', 'in', PENDING_STATUSES),
    ),
    (rows) => rows.length,
  );
  const lastConfirmed = rememberedRead(
    connection,
    preparedQuery(connection, (relayerId: string) =>
      db
        .selectFrom('transactions')
        .select((on) => on.fn.max('confirmed_at').as('latest'))
        .where('relayer_id', '=', relayerId)
        .where('confirmed_at', 'is not', null),
    ),
    (rows) => rows.length,
  );
  const markById = rememberedRead(
    connection,
    preparedQuery(connection, (relayerId: string, id: string) => ofRelayer(relayerId, id).select(['id', 'revision'])),
    (rows) => rows.length,
  );
  const ofLane = preparedQuery(connection, (lane: string, id: string) =>
    db.selectFrom('transactions').selectAll().where('id', '=', id).where('lane', '=', lane),
  );

  // Steps from lane to lane along the index. A backlog in one lane does not slow it, nor do many lanes.
  const lanesWalked = preparedQuery(connection, (now: Timestamp, after: string) =>
    db
      .withRecursive('lanes', (from) =>
        from
          .selectFrom('transactions')
          .select((on) => [on.fn.min('lane').as('lane'), sql<number>`1`.as('walked')])
          .where('next_action_at', 'is not', null)
          .where('lane', '>', after)
          .unionAll(
            from
              .selectFrom('lanes')
              .select((on) => [
                on
                  .selectFrom('transactions')
                  .select((of) => of.fn.min('transactions.lane').as('lane'))
                  .where('next_action_at', 'is not', null)
                  .whereRef('transactions.lane', '>', 'lanes.lane')
                  .$asScalar()
                  .$notNull()
                  .as('lane'),
                sql<number>`lanes.walked + 1`.as('walked'),
              ])
              .where('lanes.lane', 'is not', null)
              .where('lanes.walked', '<', sql<number>`${sql.lit(LANES_PER_SEARCH)}`),
          ),
      )
      .selectFrom('lanes')
      .select('lanes.lane')
      .select((on) => {
        // The index leads to the due rows of each status. PostgreSQL would read those of all lanes for an `exists`.
        const open = on
          .selectFrom('transactions')
          .select('transactions.accepted')
          .whereRef('transactions.lane', '=', 'lanes.lane')
          .where('status', 'in', OPEN_STATUSES)
          .where('next_action_at', 'is not', null)
          .limit(1);
        const isDue = on.or([
          on(open.where('next_action_at', '<=', now), 'is not', null),
          on(open.where('next_action_at', '>', beyondAnyPause(now)), 'is not', null),
        ]);
        return on.case().when(isDue).then(sql<number>`1`).else(sql<number>`0`).end().as('is_due');
      })
      .where('lanes.lane', 'is not', null),
  );
  const lanesWithIntent = preparedQuery(connection, () =>
    db.selectFrom('intents').select('lane').distinct().where('settled_at', 'is', null),
  );
  const pending = (lane: string, kind: AnchorKind, limit: number) =>
    db
      .selectFrom('transactions')
      .selectAll()
      .where('lane', '=', lane)
      .where('status', '=', 'pending')
      .where('anchor_kind', '=', kind)
      .where('next_action_at', 'is not', null)
      // A postponed transaction goes behind those that came later, so that the same ones do not fill every batch.
      .orderBy('next_action_at')
      .orderBy('accepted')
      .limit(limit);
  const pendingNow = preparedQuery(connection, (lane: string, kind: AnchorKind, now: Timestamp, limit: number) =>
    pending(lane, kind, limit).where('next_action_at', '<=', now),
  );
  const pendingFarAhead = preparedQuery(connection, (lane: string, kind: AnchorKind, now: Timestamp, limit: number) =>
    pending(lane, kind, limit).where('next_action_at', '>', beyondAnyPause(now)),
  );

  const nextPending = preparedQuery(connection, (lane: string, after: Timestamp) =>
    db
      .selectFrom('transactions')
      .select('next_action_at')
      .where('lane', '=', lane)
      .where('status', '=', 'pending')
      .where('next_action_at', '>', after)
      .orderBy('next_action_at')
      .limit(1),
  );

  // Uses the index of due transactions, which holds no ended ones.
  const unsigned = db
    .selectFrom('transactions')
    .where('status', '=', 'pending')
    .where('next_action_at', 'is not', null);

  const records = new RecordCache(transactionOfRow);
  const { attempts } = attemptReads(connection);

  return {
    transaction(relayerId, id) {
      return records.find(
        id,
        () => markById(relayerId, id),
        () => byId(relayerId, id),
      );
    },

    transactions: transactionList(connection, records),

    async transactionBySequence(relayerId, sequence) {
      const row = await db
        .selectFrom('transactions')
        .selectAll()
        .where('relayer_id', '=', relayerId)
        .where('sequence', '=', sequenceColumn.write(sequence))
        .orderBy('accepted', 'desc')
        .limit(1)
        .executeTakeFirst();
      return row && transactionOfRow(row);
    },

    async transactionByContent(lane, contentKey) {
      const row = await db
        .selectFrom('transactions')
        .select(['id', 'relayer_id'])
        .where('lane', '=', lane)
        .where('content_key', '=', contentKey)
        .executeTakeFirst();
      return row && { id: row.id, relayerId: row.relayer_id };
    },

    async transactionByHash(lane, hash) {
      const row = await db
        .selectFrom('attempts')
        .innerJoin('transactions', 'transactions.id', 'attempts.transaction_id')
        .select(['transactions.id', 'transactions.relayer_id'])
        .where('attempts.lane', '=', lane)
        .where('attempts.hash', '=', hash)
        .executeTakeFirst();
      return row && { id: row.id, relayerId: row.relayer_id };
    },

    async transactionOrigins(transactionIds) {
      if (transactionIds.length === 0) return new Map();
      const rows = await db
        .selectFrom('transactions')
        .select(['id', 'origin', 'created_at'])
        .where('id', 'in', transactionIds)
        .execute();
      return new Map(
        rows.map(({ id, origin, created_at: createdAt }) => [
          id,
          { origin: originColumn.schema.parse(origin), createdAt },
        ]),
      );
    },

    async children(parentId) {
      const rows = await db
        .selectFrom('transactions')
        .selectAll()
        .where('parent_id', '=', parentId)
        .orderBy('accepted', 'desc')
        .execute();
      return rows.map(transactionOfRow);
    },

    async endedAt(id) {
      const row = await db.selectFrom('transactions').select('ended_at').where('id', '=', id).executeTakeFirst();
      return row?.ended_at ?? null;
    },

    async transactionOfLane(lane, id) {
      const [row] = await ofLane(lane, id);
      return row && transactionOfRow(row);
    },

    async cancelable(relayerId) {
      return db
        .selectFrom('transactions')
        .select(['id', 'lane'])
        .where('relayer_id', '=', relayerId)
        .where('status', 'in', PENDING_STATUSES)
        .where(isNotCanceled)
        .orderBy('accepted')
        .execute();
    },

    async dueLanes(now, after = '') {
      const [rows, withIntent] = await Promise.all([lanesWalked(now, after), after === '' ? lanesWithIntent() : []]);
      const due = rows.filter(({ is_due }) => is_due === 1).map(({ lane }) => lane);
      const last = rows.length < LANES_PER_SEARCH ? undefined : rows.at(-1)?.lane;
      return { lanes: [...new Set([...due, ...withIntent.map(({ lane }) => lane)])], upTo: last };
    },

    async duePending(lane, kind, now, limit) {
      const found = await Promise.all([pendingNow(lane, kind, now, limit), pendingFarAhead(lane, kind, now, limit)]);
      return found.flat().slice(0, limit).map(transactionOfRow);
    },

    async openTransactions(lane) {
      const rows = await db
        .selectFrom('transactions')
        .selectAll()
        .where('lane', '=', lane)
        .where('status', 'in', SIGNED_STATUSES)
        .where('next_action_at', 'is not', null)
        .orderBy('accepted')
        .execute();
      // Reads the attempts second. So an attempt that is added in between is found as well; none is missed.
      const read = await attempts(...rows.map(({ id }) => id));
      const attemptsOf = Map.groupBy(read, ({ transactionId }) => transactionId);
      return rows.map((row) => ({ transaction: transactionOfRow(row), attempts: attemptsOf.get(row.id) ?? [] }));
    },

    async unsigned(limit) {
      const rows = await unsigned.selectAll().orderBy('accepted').limit(limit).execute();
      return rows.map(transactionOfRow);
    },

    async unsignedCount() {
      return countOf(await unsigned.select((on) => on.fn.countAll<number>().as('total')).execute());
    },

    async latestAcceptance() {
      const row = await db
        .selectFrom('transactions')
        .select((on) => on.fn.max('accepted').as('latest'))
        .executeTakeFirstOrThrow();
      return row.latest ?? 0;
    },

    async pendingUpTo(lane, place) {
      const rows = await unsigned
        .selectAll()
        .where('lane', '=', lane)
        .where('accepted', '<=', place)
        .orderBy('accepted')
        .execute();
      return rows.map(transactionOfRow);
    },

    async pendingIdsUpTo(lane, place) {
      const rows = await unsigned
        .select(['id', 'relayer_id'])
        .where('lane', '=', lane)
        .where('accepted', '<=', place)
        .execute();
      return rows.map(({ id, relayer_id: relayerId }) => ({ id, relayerId }));
    },

    async nextPendingAt(lane, after) {
      const [row] = await nextPending(lane, after);
      return row?.next_action_at ?? null;
    },

    async pendingCount(relayerId) {
      return countOf(await pendingTotal(relayerId));
    },

    async openCounts() {
      const rows = await db
        .selectFrom('relayers')
        .innerJoin('transaction_counts', 'transaction_counts.relayer_id', 'relayers.id')
        .select(['relayers.id', 'relayers.network_type', 'transaction_counts.status'])
        .select(sql<number>`cast(sum(count) as bigint)`.as('count'))
        .select((on) =>
          on
            .selectFrom('transactions')
            .select('created_at')
            .whereRef('transactions.relayer_id', '=', 'relayers.id')
            .whereRef('transactions.status', '=', 'transaction_counts.status')
            .orderBy('created_at')
            .limit(1)
            .as('oldest'),
        )
        .where('transaction_counts.status', 'in', OPEN_STATUSES)
        .groupBy(['relayers.id', 'relayers.network_type', 'transaction_counts.status'])
        .having(sql<number>`sum(count)`, '>', 0)
        .execute();
      return rows.map(({ id, network_type, status, count, oldest }) => ({
        relayerId: id,
        networkType: networkTypeSchema.parse(network_type),
        status: transactionStatusSchema.parse(status),
        count,
        oldestAt: oldest ?? 0,
      }));
    },

    async lastConfirmedAt(relayerId) {
      const [row] = await lastConfirmed(relayerId);
      return row?.latest ?? null;
    },
  } satisfies Partial<StoreReader>;
}

/** Writes of the table `transactions`. */
export function transactionWrites(connection: Connection) {
  const { db, now } = connection;
  const note = transactionEventNote(connection);
  const insert = preparedWrite(connection, (row: TransactionRow) =>
    db
      .insertInto('transactions')
      .values(row)
      .onConflict((on) => on.doNothing()),
  );
  const insertEnded = preparedWrite(connection, (row: TransactionRow) =>
    db
      .insertInto('transactions')
      .values({ ...row, ended_at: now() })
      .onConflict((on) => on.doNothing()),
  );
  const change = preparedWrite(connection, (columns: ChangedColumns, id: string, seen: string) =>
    db
      .updateTable('transactions')
      .set(columns)
      .where('id', '=', id)
      .where('status', '=', seen as TransactionStatus),
  );
  const end = preparedWrite(connection, (columns: ChangedColumns, id: string, seen: string) =>
    db
      .updateTable('transactions')
      .set({ ...columns, ended_at: now() })
      .where('id', '=', id)
      .where('status', '=', seen as TransactionStatus),
  );

  return {
    async insertTransaction(transaction) {
      const write = isFinal(transaction.status) ? insertEnded : insert;
      const row = transactionRow(transaction);
      const [inserted] = await Promise.all([write(row), note(transaction.id, row.revision)]);
      if (inserted === 0) throw new DuplicateRecord('transactions', transaction.id);
    },

    async updateTransaction(id, seen, wanted) {
      assertStep(id, seen, wanted.status);
      const write = wanted.status !== undefined && isFinal(wanted.status) ? end : change;
      const columns = changedColumns(wanted);
      const [changed] = await Promise.all([
        // An empty change still reports whether the status is the one that the caller saw.
        write({ status: seen, ...columns }, id, seen),
        isTransactionEvent(seen, wanted) ? note(id, columns.revision) : undefined,
      ]);
      return changed === 1;
    },
  } satisfies Partial<StoreWriter>;
}

function assertStep(id: string, seen: TransactionStatus, next: TransactionStatus = seen): void {
  if (isFinal(seen) || (next !== seen && !canBecome(seen, next))) {
    throw new Error(`Transaction ${id} is ${seen} and cannot become ${next}`);
  }
}

/** Deletes transactions that ended long ago, unless an idempotency key names them. */
export function pruningWrites({ db, hasOtherWriters = false }: Connection) {
  /** Adds up what connections counted that are gone, so that their rows do not pile up. */
  async function foldCounts(): Promise<void> {
    if (!hasOtherWriters) return;
    await sql`with gone as (
        delete from transaction_counts
        where writer <> 0 and writer not in (select pid from pg_stat_activity where pid is not null)
        returning relayer_id, status, is_canceled, count
      )
      insert into transaction_counts as known (relayer_id, status, is_canceled, writer, count)
        select relayer_id, status, is_canceled, 0, sum(count) from gone group by 1, 2, 3
        on conflict (relayer_id, status, is_canceled, writer) do update set count = known.count + excluded.count`.execute(
      db,
    );
  }

  return {
    async pruneTransactions(before, limit) {
      const ended = await db
        .selectFrom('transactions')
        .select('id')
        .where('ended_at', '<', before)
        .where('status', 'in', FINAL_STATUSES)
        // A literal, as in the index: otherwise the index is not used.
        .where('pins', '=', sql.lit(0))
        .orderBy('ended_at')
        .limit(limit)
        .execute();
      // This was the last batch.
      if (ended.length < limit) await foldCounts();
      if (ended.length === 0) return 0;
      const ids = ended.map(({ id }) => id);
      await db.deleteFrom('decisions').where('transaction_id', 'in', ids).execute();
      await db.deleteFrom('intents').where('transaction_id', 'in', ids).execute();
      await db.deleteFrom('attempts').where('transaction_id', 'in', ids).execute();
      await db.deleteFrom('transactions').where('id', 'in', ids).execute();
      return ids.length;
    },
  } satisfies Partial<StoreWriter>;
}
