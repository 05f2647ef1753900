import { z } from 'zod';
import { booleanColumn } from '../../../domain/record.ts';
import type { Connection } from '../../../store/connection.ts';
import type { StoreReader, StoreWriter } from '../../../store/store.ts';
import { parseRow } from '../../../store/tables/stored-record.ts';
import type { RelayerBalance } from '../records/relayer.ts';

const rowSchema = z
  .object({
    relayer_id: z.string(),
    balance: z.string().regex(/^\d+$/).transform(BigInt),
    is_low: booleanColumn.schema,
  })
  .transform((row): RelayerBalance => ({ relayerId: row.relayer_id, balance: row.balance, isLow: row.is_low }));

/** Reads of the table `relayer_balances`. */
export function balanceReads({ db }: Connection): Pick<StoreReader, 'relayerBalance' | 'relayerBalances'> {
  return {
    async relayerBalance(relayerId) {
      const row = await db
        .selectFrom('relayer_balances')
        .selectAll()
        .where('relayer_id', '=', relayerId)
        .executeTakeFirst();
      return row && parseRow(rowSchema, 'relayer_balances', relayerId, row);
    },

    async relayerBalances() {
      const rows = await db.selectFrom('relayer_balances').selectAll().execute();
      return rows.map((row) => parseRow(rowSchema, 'relayer_balances', row.relayer_id, row));
    },
  };
}

/** Writes of the table `relayer_balances`. */
export function balanceWrites({ db }: Connection): Pick<StoreWriter, 'putRelayerBalance'> {
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
