import { accountSequenceColumn as sequenceColumn, storableText } from '../../../domain/record.ts';
import type { Connection } from '../../../store/connection.ts';
import { preparedQuery, rememberedRead } from '../../../store/prepared.ts';
import type { StoreReader, StoreWriter } from '../../../store/store.ts';
import { recordOfRow } from '../../../store/tables/stored-record.ts';
import { intentRecord } from '../records/intent.ts';
import { type DecisionKind, decisionRecord } from '../records/timeline-decision.ts';

/** Reads of the table `lanes`. */
export function laneReads(connection: Connection) {
  const { db } = connection;
  const settled = rememberedRead(
    connection,
    preparedQuery(connection, (lane: string) => db.selectFrom('lanes').select('settled').where('lane', '=', lane)),
    (rows) => rows.length,
  );
  const highest = rememberedRead(
    connection,
    preparedQuery(connection, (lane: string) =>
      db
        .selectFrom('transactions')
        .select((on) => on.fn.max('sequence').as('sequence'))
        .where('lane', '=', lane)
        .where('status', 'in', ['sent', 'submitted', 'mined'])
        .where('next_action_at', 'is not', null),
    ),
    (rows) => rows.length,
  );
  async function settledSequence(lane: string): Promise<bigint | null> {
    const [row] = await settled(lane);
    return row === undefined ? null : sequenceColumn.schema.parse(row.settled) + 1n;
  }
  return {
    settledSequence,

    async knownSequence(lane) {
      const [afterSettled, [open]] = await Promise.all([settledSequence(lane), highest(lane)]);
      if (open?.sequence == null) return afterSettled;
      const next = sequenceColumn.schema.parse(open.sequence) + 1n;
      return afterSettled !== null && afterSettled > next ? afterSettled : next;
    },

    async expiredLeases(now) {
      const rows = await db.selectFrom('leases').select(['name', 'token']).where('expires_at', '<=', now).execute();
      return new Map(rows.map(({ name, token }) => [name, token]));
    },
  } satisfies Partial<StoreReader>;
}

/** Writes of the table `lanes`. */
export function laneWrites(connection: Connection) {
  const raise = preparedQuery(connection, (lane: string, settled: string) =>
    connection.db
      .insertInto('lanes')
      .values({ lane, settled })
      .onConflict((on) => on.column('lane').doUpdateSet({ settled }).where('lanes.settled', '<', settled)),
  );
  return {
    async settleSequence(lane, sequence) {
      await raise(lane, sequenceColumn.write(sequence));
    },
  } satisfies Partial<StoreWriter>;
}

/** Reads of the table `intents`. */
export function intentReads(connection: Connection) {
  const { db } = connection;
  const waiting = preparedQuery(connection, (lane: string, limit: number) =>
    db
      .selectFrom('intents')
      .select(intentRecord.names)
      .where('lane', '=', lane)
      .where('settled_at', 'is', null)
      .orderBy('position')
      .limit(limit),
  );
  return {
    async intents(lane, limit) {
      const rows = await waiting(lane, limit);
      return rows.map((row) => recordOfRow(intentRecord, row));
    },

    async intentOutcome(position) {
      const row = await db
        .selectFrom('intents')
        .select(['settled_at', 'refusal'])
        .where('position', '=', position)
        .executeTakeFirst();
      if (row === undefined) return undefined;
      return row.settled_at === null ? 'waiting' : { refusal: row.refusal };
    },

    async waitingIntents() {
      const { count } = await db
        .selectFrom('intents')
        .select((on) => on.fn.countAll<number>().as('count'))
        .where('settled_at', 'is', null)
        .executeTakeFirstOrThrow();
      return count;
    },

    async intentRecords(transactionId, limit) {
      const rows = await db
        .selectFrom('intents')
        .select(intentRecord.names)
        .where('transaction_id', '=', transactionId)
        .orderBy('position', 'desc')
        .limit(limit)
        .execute();
      return rows.reverse().map((row) => {
        const { action, createdAt, settledAt, refusal } = recordOfRow(intentRecord, row);
        return { kind: action.kind, createdAt, settledAt, refusal };
      });
    },
  } satisfies Partial<StoreReader>;
}

/** Writes of the table `intents`. */
export function intentWrites({ db, now }: Connection) {
  return {
    async insertIntent(intent) {
      const { position } = await db
        .insertInto('intents')
        .values({ ...intentRecord.write(intent), created_at: now() })
        .returning('position')
        .executeTakeFirstOrThrow();
      return position;
    },

    async settleIntent(position, refusal) {
      await db
        .updateTable('intents')
        .set({ settled_at: now(), refusal: refusal && storableText(refusal) })
        .where('position', '=', position)
        .where('settled_at', 'is', null)
        .execute();
    },
  } satisfies Partial<StoreWriter>;
}

/** Reads of the table `decisions`. */
export function decisionReads({ db }: Connection) {
  return {
    async decisions(transactionId, limit) {
      const rows = await db
        .selectFrom('decisions')
        .select(decisionRecord.names)
        .where('transaction_id', '=', transactionId)
        .orderBy('position', 'desc')
        .limit(limit)
        .execute();
      return rows.reverse().map((row) => recordOfRow(decisionRecord, row));
    },
  } satisfies Partial<StoreReader>;
}

/** Writes of the table `decisions`. */
export function decisionWrites(connection: Connection) {
  const { db, now } = connection;
  const insert = preparedQuery(connection, (transaction_id: string, kind: string, text: string) =>
    db.insertInto('decisions').values({ transaction_id, at: now(), kind: kind as DecisionKind, text }),
  );
  return {
    async insertDecision(transactionId, { kind, text }) {
      await insert(transactionId, kind, storableText(text));
    },
  } satisfies Partial<StoreWriter>;
}
