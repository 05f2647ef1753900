import { type Kysely, sql } from 'kysely';
import type { ColumnTypes } from '../column-types.ts';
import type { Tables } from '../schema.ts';

/** Signers that were made over the API. */
export async function signers(db: Kysely<Tables>, { text, integer, table }: ColumnTypes): Promise<void> {
  await sql`create table signers (
    id ${text} not null primary key, created_at ${integer} not null, type ${text} not null, stamp ${text} not null,
    shown ${text} not null, config ${text} not null
  ) ${table}`.execute(db);
}
