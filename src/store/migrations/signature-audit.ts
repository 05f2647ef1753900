import { type Kysely, sql } from 'kysely';
import type { Tables } from '../schema.ts';

/** The audit tells of signatures, too, which are no changes of settings either. */
export async function signatureAudit(db: Kysely<Tables>): Promise<void> {
  await sql`drop index audit_records_of_changes`.execute(db);
  await sql`create index audit_records_of_changes on audit_records (position)
    where resource not in ('transaction', 'delivery', 'signature')`.execute(db);
}
