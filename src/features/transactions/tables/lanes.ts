import { accountSequenceColumn as sequenceColumn } from '../../../domain/record.ts';
import type { Connection } from '../../../store/connection.ts';
import { preparedQuery } from '../../../store/prepared.ts';
import type { StoreReader, StoreWriter } from '../../../store/store.ts';

/** Reads of the table `lanes`. */
export function laneReads({
  db,
}: Connection): Pick<StoreReader, 'settledSequence' | 'knownSequence' | 'expiredLeases'> {
  async function settledSequence(lane: string): Promise<bigint | null> {
    const row = await db.selectFrom('lanes').select('settled').where('lane', '=', lane).executeTakeFirst();
    return row === undefined ? null : sequenceColumn.schema.parse(row.settled) + 1n;
  }
  return {
    settledSequence,

    async knownSequence(lane) {
      const [settled, open] = await Promise.all([
        settledSequence(lane),
        db
          .selectFrom('transactions')
          .select((on) => on.fn.max('sequence').as('highest'))
          .where('lane', '=', lane)
          .where('status', 'in', ['sent', 'submitted', 'mined'])
          .where('next_action_at', 'is not', null)
          .executeTakeFirst(),
      ]);
      if (open?.highest == null) return settled;
      const next = sequenceColumn.schema.parse(open.highest) + 1n;
      return settled !== null && settled > next ? settled : next;
    },

    async expiredLeases(now) {
      const rows = await db.selectFrom('leases').select(['name', 'token']).where('expires_at', '<=', now).execute();
      return new Map(rows.map(({ name, token }) => [name, token]));
    },
  };
}

/** Writes of the table `lanes`. */
export function laneWrites(connection: Connection): Pick<StoreWriter, 'settleSequence'> {
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
  };
}
