import { type Kysely, sql } from 'kysely';
import type { ColumnTypes } from '../column-types.ts';
import type { Tables } from '../schema.ts';

/** Networks that were made over the API, and endpoints that were changed there. */
export async function networks(db: Kysely<Tables>, { text, integer, table }: ColumnTypes): Promise<void> {
  await sql`create table networks (
    network_type ${text} not null, name ${text} not null, created_at ${integer} not null, rpc_urls ${text} not null,
    settings ${text}, declaration ${text}, primary key (network_type, name)
  ) ${table}`.execute(db);
}
