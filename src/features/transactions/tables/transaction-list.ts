import { type ExpressionBuilder, type Selectable, type SelectQueryBuilder, sql } from 'kysely';
import type { Connection } from '../../../store/connection.ts';
import { preparedQuery, rememberedRead } from '../../../store/prepared.ts';
import type { Tables } from '../../../store/schema.ts';
import type { StoreReader } from '../../../store/store.ts';
import { countOf, ListPages, type ListPlace, type LongList, pageBounds } from '../../../store/tables/lists.ts';
import type { RecordCache } from '../../../store/tables/stored-record.ts';
import type { Transaction } from '../records/transaction.ts';
import { isFinal, type TransactionStatus } from '../records/transaction-state.ts';

/**
 * Condition: the transaction is not canceled. Either it is meant to have its effect, or it has none for another reason.
 */
export const isNotCanceled = (on: ExpressionBuilder<Tables, 'transactions'>) =>
  on.or([on('noop_end', 'is', null), on('noop_end', '<>', 'canceled')]);

type Matching = SelectQueryBuilder<Tables, 'transactions', object>;

const newestFirst = (matching: Matching) => matching.orderBy('created_at', 'desc').orderBy('id', 'desc');

/** Compares time and id together, so that the database uses an index on both. */
const after = (matching: Matching, at: number, id: string) =>
  matching.where(sql<boolean>`(created_at, id) < (${at}, ${id})`);
const before = (matching: Matching, at: number, id: string) =>
  matching.where(sql<boolean>`(created_at, id) > (${at}, ${id})`);

/** A page that begins later than this is looked for only when the list is known to reach so far. */
const MAX_UNCOUNTED = 1_000;

/** Returns pages of a relayer's transactions, fast for any number of transactions. */
export function transactionList(
  connection: Connection,
  records: RecordCache<Selectable<Tables['transactions']>, Transaction>,
): StoreReader['transactions'] {
  const contents = new ListPages();
  const known = new Map<TransactionStatus | undefined, Queries>();

  function queriesOf(status: TransactionStatus | undefined): Queries {
    const queries = known.get(status) ?? createQueries(connection, status);
    known.set(status, queries);
    return queries;
  }

  async function pageOf(relayerId: string, limit: number, offset: number, status?: TransactionStatus) {
    const queries = queriesOf(status);
    // A number beyond every list, or a page of nothing, would make the database walk through the list.
    if (limit === 0 || offset > MAX_UNCOUNTED) {
      const total = await queries.total(relayerId);
      if (limit === 0 || offset >= total) return { items: [], total };
    }
    const { after: place, skip } = await contents.open(listOf(queries, relayerId, status), offset);
    const found = await queries.marks(relayerId, place, limit, skip);
    const total = found[0]?.total ?? (await queries.total(relayerId));
    const known = found.map(({ id, revision }) => records.known({ id, revision }));
    if (known.every((record) => record !== undefined)) return { items: known, total };
    const rows = await queries.rows(relayerId, place, limit, skip);
    return { items: rows.map((row) => records.record(row)), total };
  }

  const remembered = rememberedRead(connection, pageOf, ({ items }) => items.length);
  return (relayerId, page, status) => {
    const { limit, offset } = pageBounds(page);
    return remembered(relayerId, limit, offset, status);
  };
}

type Queries = ReturnType<typeof createQueries>;

/**
 * Makes the queries for all transactions, or for those with a status. Each is compiled once: building a query takes
 * longer than answering it.
 */
function createQueries(connection: Connection, status: TransactionStatus | undefined) {
  const { db } = connection;

  /** For a status that is not final, transactions that are being canceled are left out. */
  function matching(relayerId: string): Matching {
    const all: Matching = db.selectFrom('transactions').where('relayer_id', '=', relayerId);
    if (status === undefined) return all;
    return isFinal(status) ? all.where('status', '=', status) : all.where('status', '=', status).where(isNotCanceled);
  }

  const onePlace = (of: Matching, skip: number) => newestFirst(of).select(['created_at', 'id']).limit(1).offset(skip);
  /** The counts that the triggers of the table keep. */
  const total = (relayerId: string) => {
    const all = db.selectFrom('transaction_counts').where('transaction_counts.relayer_id', '=', relayerId);
    const counted = status === undefined ? all : all.where('transaction_counts.status', '=', status);
    const shown = status === undefined || isFinal(status) ? counted : counted.where('is_canceled', '=', 0);
    return shown.select(sql<number>`cast(coalesce(sum(count), 0) as bigint)`.as('total'));
  };

  function pages<Row>(
    columnsOf: (matching: Matching, relayerId: string) => SelectQueryBuilder<Tables, 'transactions', Row>,
  ) {
    const first = preparedQuery(connection, (relayerId: string, limit: number, skip: number) =>
      columnsOf(newestFirst(matching(relayerId)), relayerId)
        .limit(limit)
        .offset(skip),
    );
    const later = preparedQuery(connection, (relayerId: string, at: number, id: string, limit: number, skip: number) =>
      columnsOf(newestFirst(after(matching(relayerId), at, id)), relayerId)
        .limit(limit)
        .offset(skip),
    );
    return (relayerId: string, place: ListPlace | undefined, limit: number, skip: number): Promise<Row[]> =>
      place === undefined ? first(relayerId, limit, skip) : later(relayerId, place.created_at, place.id, limit, skip);
  }

  const totals = preparedQuery(connection, total);
  return {
    rows: pages((of) => of.selectAll()),
    /** The columns that show whether a row is unchanged, and the length of the list. */
    marks: pages((of, relayerId) => of.select(['id', 'revision']).select(total(relayerId).as('total'))),
    total: async (relayerId: string) => countOf(await totals(relayerId)),
    place: preparedQuery(connection, (relayerId: string, skip: number) => onePlace(matching(relayerId), skip)),
    placeAfter: preparedQuery(connection, (relayerId: string, at: number, id: string, skip: number) =>
      onePlace(after(matching(relayerId), at, id), skip),
    ),
    countBefore: preparedQuery(connection, (relayerId: string, at: number, id: string, most: number) =>
      db
        .selectFrom(before(matching(relayerId), at, id).select('transactions.id').limit(most).as('some'))
        .select((on) => on.fn.countAll<number>().as('total')),
    ),
  };
}

function listOf(queries: Queries, relayerId: string, status: TransactionStatus | undefined): LongList {
  return {
    name: JSON.stringify([relayerId, status]),
    isLasting: status === undefined || isFinal(status),
    async place(of, count) {
      const rows =
        of === undefined
          ? await queries.place(relayerId, count - 1)
          : await queries.placeAfter(relayerId, of.created_at, of.id, count - 1);
      return rows[0];
    },
    countBefore: async (of, most) => countOf(await queries.countBefore(relayerId, of.created_at, of.id, most)),
  };
}
