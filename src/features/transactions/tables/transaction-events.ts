import { sql } from 'kysely';
import { z } from 'zod';
import type { Connection } from '../../../store/connection.ts';
import { preparedQuery } from '../../../store/prepared.ts';
import type { StoreReader, StoreWriter } from '../../../store/store.ts';
import { recordOfRow } from '../../../store/tables/stored-record.ts';
import type { TransactionChange } from '../records/transaction.ts';
import { FIRST_PLACE, transactionEventRecord } from '../records/transaction-event.ts';

/**
 * Reads of the table `transaction_events`. Positions are assigned before a commit and visible after it, so a later
 * position may become visible first. Therefore only events are returned that were written before every write that is
 * still under way.
 */
export function transactionEventReads(connection: Connection) {
  const { db, settledWrites } = connection;
  const isSettled = () => sql<boolean>`written < ${settledWrites()}`;
  const following = preparedQuery(connection, (written: number, position: number, limit: number) =>
    db
      .selectFrom('transaction_events')
      .selectAll()
      .where(sql<boolean>`(written, position) > (${written}, ${position})`)
      .where(isSettled())
      .orderBy('written')
      .orderBy('position')
      .limit(limit),
  );
  return {
    async latestTransactionEvent() {
      const row = await db
        .selectFrom('transaction_events')
        .select(['written', 'position'])
        .where(isSettled())
        .orderBy('written', 'desc')
        .orderBy('position', 'desc')
        .limit(1)
        .executeTakeFirst();
      return row ?? FIRST_PLACE;
    },

    async isKeptTransactionEvent({ written, position }) {
      const oldestFirst = db.selectFrom('transaction_events').select('position').orderBy('position').limit(1);
      // The place before the first event. Nothing is missing while the first event is still stored.
      if (position === FIRST_PLACE.position) return ((await oldestFirst.executeTakeFirst())?.position ?? 1) === 1;
      const found = oldestFirst.where('position', '=', position).where('written', '=', written);
      return (await found.executeTakeFirst()) !== undefined;
    },

    async transactionEvents({ written, position }, limit) {
      return (await following(written, position, limit)).map((row) => recordOfRow(transactionEventRecord, row));
    },

    async transactionEventsAt(positions) {
      if (positions.length === 0) return [];
      const rows = await db
        .selectFrom('transaction_events')
        .selectAll()
        .where('position', 'in', positions)
        .orderBy('written')
        .orderBy('position')
        .execute();
      return rows.map((row) => recordOfRow(transactionEventRecord, row));
    },
  } satisfies Partial<StoreReader>;
}

/** A trigger that nobody has looked for so long is not declared any more. */
const WATCHED_MS = 86_400_000;

/** The part of a trigger's cursor that says which events it has still to decide about. */
const placeSchema = z.object({ position: z.int(), held: z.array(z.int()).default([]) });

/** Writes of the table `transaction_events`. */
export function transactionEventWrites({ db, now }: Connection) {
  /** Up to where all triggers have decided that an instance still looks for. */
  async function earliestUndecided(): Promise<number> {
    const rows = await db
      .selectFrom('triggers')
      .select('cursor')
      .where('paused', 'is', null)
      .where('looked_at', '>', sql<number>`${now()} - ${sql.lit(WATCHED_MS)}`)
      .execute();
    const places = rows.flatMap(({ cursor }) => placeSchema.safeParse(JSON.parse(cursor)).data ?? []);
    return Math.min(
      Number.POSITIVE_INFINITY,
      ...places.flatMap(({ position, held }) => [position, ...held.map((one) => one - 1)]),
    );
  }

  return {
    async pruneTransactionEvents(before, limit) {
      const rows = await db
        .selectFrom('transaction_events')
        .select(['position', 'at'])
        .orderBy('position')
        // Reads one more: the last event of all stays, so that no position is assigned twice.
        .limit(limit + 1)
        .execute();
      const decided = await earliestUndecided();
      const old = rows.slice(0, -1).filter(({ at, position }) => at < before && position <= decided);
      const last = old.at(-1);
      if (last === undefined) return 0;
      const result = await db
        .deleteFrom('transaction_events')
        .where('position', '<=', last.position)
        .executeTakeFirstOrThrow();
      return Number(result.numDeletedRows);
    },
  } satisfies Partial<StoreWriter>;
}

/**
 * Notes the present state of a transaction as an event, in the write that gave it this revision. It can be asked for
 * together with that write: without it, nothing is noted.
 */
export function transactionEventNote(connection: Connection): (id: string, revision: number) => Promise<void> {
  const { db, now } = connection;
  const note = preparedQuery(connection, (id: string, revision: number) =>
    db
      .insertInto('transaction_events')
      .columns(['at', 'transaction_id', 'relayer_id', 'status', 'status_reason', 'hash'])
      .expression(
        db
          .selectFrom('transactions')
          .select(now().as('at'))
          .select(['id', 'relayer_id', 'status', 'status_reason', 'hash'])
          .where('id', '=', id)
          .where('revision', '=', revision),
      ),
  );
  return async (id, revision) => {
    await note(id, revision);
  };
}

/** Whether a change makes an event. A change that only plans the next step does not. */
export function isTransactionEvent(seen: string, { status, hash, noopEnd }: TransactionChange): boolean {
  return (status !== undefined && status !== seen) || hash !== undefined || noopEnd !== undefined;
}
