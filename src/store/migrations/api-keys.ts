import { type Kysely, sql } from 'kysely';
import type { ColumnTypes } from '../column-types.ts';
import type { Tables } from '../schema.ts';

/** API keys beside that of the environment. */
export async function apiKeys(db: Kysely<Tables>, { text, integer, table }: ColumnTypes): Promise<void> {
  await sql`create table api_keys (
    id ${text} not null primary key, created_at ${integer} not null, name ${text} not null,
    hash ${text} not null unique, permissions ${text} not null, allowed_origins ${text} not null, rate ${text},
    expires_at ${integer}
  ) ${table}`.execute(db);
}
