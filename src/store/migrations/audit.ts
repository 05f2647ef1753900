import { type Kysely, sql } from 'kysely';
import type { ColumnTypes } from '../column-types.ts';
import type { Tables } from '../schema.ts';

/** Who changed which setting, and how. */
export async function audit(db: Kysely<Tables>, { text, integer, rising, table }: ColumnTypes): Promise<void> {
  await sql`create table audit_records (
    position ${rising} primary key, at ${integer} not null, key_id ${text} not null, request_id ${text} not null,
    action ${text} not null, resource ${text} not null, resource_id ${text} not null, before ${text}, after ${text},
    secrets ${text} not null
  ) ${table}`.execute(db);
  await sql`create index audit_records_of_resource on audit_records (resource, resource_id, position)`.execute(db);
}
