import { z } from 'zod';
import { flag } from '../../domain/record.ts';
import type { RelayerBalance } from '../../domain/relayer/relayer.ts';
import type { Connection } from '../connection.ts';
import type { Reader, Writer } from '../store.ts';
import { readRecord } from './stored-record.ts';

const rowSchema = z
  .object({
    relayer_id: z.string(),
    balance: z.string().regex(/^\d+$/).transform(BigInt),
    is_low: flag.schema,
  })
  .transform((row): RelayerBalance => ({ relayerId: row.relayer_id, balance: row.balance, isLow: row.is_low }));

/** Reads of the table `relayer_balances`. */
export function balanceReads({ db }: Connection): Pick<Reader, 'relayerBalance' | 'relayerBalances'> {
  return {
    async relayerBalance(relayerId) {
      const row = await db
        .selectFrom('relayer_balances')
        .selectAll()
        .where('relayer_id', '=', relayerId)
        .executeTakeFirst();
      return row && readRecord(rowSchema, 'relayer_balances', relayerId, row);
    },

    async relayerBalances() {
      const rows = await db.selectFrom('relayer_balances').selectAll().execute();
      return rows.map((row) => readRecord(rowSchema, 'relayer_balances', row.relayer_id, row));
    },
  };
}

/** Writes of the table `relayer_balances`. */
export function balanceWrites({ db }: Connection): Pick<Writer, 'putRelayerBalance'> {
  return {
    async putRelayerBalance({ relayerId, balance, isLow }) {
      const seen = { balance: String(balance), is_low: isLow ? 1 : 0 };
      await db
        .insertInto('relayer_balances')
        .values({ relayer_id: relayerId, ...seen })
        .onConflict((on) => on.column('relayer_id').doUpdateSet(seen))
        .execute();
    },
  };
}
