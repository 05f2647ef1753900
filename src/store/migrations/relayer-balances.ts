import { type Kysely, sql } from 'kysely';
import type { ColumnTypes } from '../column-types.ts';
import type { Tables } from '../schema.ts';

/** What the accounts of relayers were last seen to have. */
export async function relayerBalances(db: Kysely<Tables>, { text, integer, table }: ColumnTypes): Promise<void> {
  await sql`create table relayer_balances (
    relayer_id ${text} not null primary key, balance ${text} not null, is_low ${integer} not null
  ) ${table}`.execute(db);
}
