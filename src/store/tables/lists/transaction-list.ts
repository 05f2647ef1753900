import { type SelectQueryBuilder, sql } from 'kysely';
import { isFinal, type TransactionStatus } from '../../../domain/transaction/transaction-state.ts';
import type { Connection } from '../../connection.ts';
import { prepared } from '../../prepared.ts';
import type { Tables } from '../../schema.ts';
import type { Reader } from '../../store.ts';
import { isNotCanceled, transactionOfRow } from '../transaction-record.ts';
import { ListContents, type LongList, type Place } from './list-contents.ts';
import { pageBounds, totalOf } from './paging.ts';

type Matching = SelectQueryBuilder<Tables, 'transactions', object>;

const newestFirst = (matching: Matching) => matching.orderBy('created_at', 'desc').orderBy('id', 'desc');

/** Time and id are compared as one, so that an index on both leads there. */
const after = (place: Place | undefined, matching: Matching) =>
  place === undefined ? matching : matching.where(sql<boolean>`(created_at, id) < (${place.created_at}, ${place.id})`);
const before = (place: Place, matching: Matching) =>
  matching.where(sql<boolean>`(created_at, id) > (${place.created_at}, ${place.id})`);

/** Pages of a relayer's transactions, however many there are. */
export function transactionList(connection: Connection): Reader['transactions'] {
  const { db } = connection;
  const contents = new ListContents();
  const ofRelayer = (relayerId: string): Matching => db.selectFrom('transactions').where('relayer_id', '=', relayerId);
  const upTo = (most: number, matching: Matching) =>
    db
      .selectFrom(matching.select('transactions.id').limit(most).as('some'))
      .select((on) => on.fn.countAll<number>().as('total'));
  const firstOfAll = prepared(connection, (relayerId: string, limit: number, offset: number) =>
    newestFirst(ofRelayer(relayerId)).selectAll().limit(limit).offset(offset),
  );
  const countOfAll = prepared(connection, (relayerId: string, most: number) => upTo(most, ofRelayer(relayerId)));

  /** A status that is not final leaves out what is canceled. */
  function ofStatus(relayerId: string, status: TransactionStatus): Matching {
    const matching = ofRelayer(relayerId).where('status', '=', status);
    return isFinal(status) ? matching : matching.where(isNotCanceled);
  }

  function listOf(relayerId: string, status: TransactionStatus | undefined): LongList & { matching: Matching } {
    const matching = status === undefined ? ofRelayer(relayerId) : ofStatus(relayerId, status);
    return {
      matching,
      name: JSON.stringify([relayerId, status]),
      isLasting: status === undefined || isFinal(status),
      place: (place, count) =>
        newestFirst(after(place, matching))
          .select(['created_at', 'id'])
          .limit(1)
          .offset(count - 1)
          .executeTakeFirst(),
      countAfter: async (place, most) =>
        totalOf(
          place === undefined && status === undefined
            ? await countOfAll(relayerId, most)
            : await upTo(most, after(place, matching)).execute(),
        ),
      countBefore: async (place, most) => totalOf(await upTo(most, before(place, matching)).execute()),
    };
  }

  return async (relayerId, page, status) => {
    const { limit, offset } = pageBounds(page);
    const list = listOf(relayerId, status);
    const { total, after: place, skip } = await contents.open(list, offset);
    const rows =
      place === undefined && status === undefined
        ? await firstOfAll(relayerId, limit, skip)
        : await newestFirst(after(place, list.matching)).selectAll().limit(limit).offset(skip).execute();
    return { items: rows.map(transactionOfRow), total };
  };
}
